-- From version 4 to version 5: the row of a transaction has a checksum; see row_sum.hpp. A
-- row that was not written since has none.

ALTER TABLE holdfast_transactions ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
