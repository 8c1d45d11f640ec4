create sequence if not exists order_id;

create table if not exists orders (
	id bigint primary key,
	item varchar(100) not null,
	status varchar(10) not null,
	created_at timestamp(9) with time zone not null,
	closes_at timestamp(9) with time zone not null,
	settled_at timestamp(9) with time zone
);
