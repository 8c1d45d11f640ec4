create table timingwheel_task (remark varchar(20));

insert into timingwheel_task values ('später');
