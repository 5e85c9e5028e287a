create table products (
  id    int primary key,
  name  text not null,
  price numeric(8, 2) not null check (price > 0)
);
insert into products values (1, 'teapot', 24.00), (2, 'cup', 6.50), (3, 'tray', 18.90);

create table orders (
  id      bigint primary key,
  product int not null references products,
  amount  int not null check (amount > 0)
);
insert into orders select n, 1 + n % 3, 1 + n % 5 from generate_series(1, 200000) n;
