-- How often each product was sold, counted once for all orders so far.
create index on orders (product);
alter table products add column sold bigint not null default 0;
update products set sold = (select sum(amount) from orders where product = products.id);
