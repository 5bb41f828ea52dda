-- The rows to learn from: each person who ordered in the 90 days before a date, and whether they ordered in the 30 days from it on.
-- `recent` is the number of orders in the 30 days before it, by which a trivial forecast ranks people.
SELECT people.id AS person, extract(epoch FROM at)::bigint AS at,
    EXISTS (SELECT FROM orders o WHERE o.person = people.id AND o.at >= dates.at AND o.at < dates.at + interval '30 days')::int AS again,
    (SELECT count(*) FROM orders o WHERE o.person = people.id AND o.at >= dates.at - interval '30 days' AND o.at < dates.at) AS recent
FROM generate_series('2024-07-01 00:00+00'::timestamptz, '2025-05-01 00:00+00', interval '1 month') AS dates (at), people
WHERE EXISTS (SELECT FROM orders o WHERE o.person = people.id AND o.at >= dates.at - interval '90 days' AND o.at < dates.at)
ORDER BY dates.at, people.id;
