-- Full-text indexes, which drizzle's schema cannot say. Rows have the row number of what they index.
-- What is redacted or deleted leaves no words behind: 'secure-delete' removes them at once.
CREATE VIRTUAL TABLE `notebook_text` USING fts5(`text`, tokenize = 'unicode61 remove_diacritics 2');
--> statement-breakpoint
INSERT INTO `notebook_text` (`notebook_text`, `rank`) VALUES ('secure-delete', 1);
--> statement-breakpoint
CREATE VIRTUAL TABLE `memory_text` USING fts5(`text`, tokenize = 'unicode61 remove_diacritics 2');
--> statement-breakpoint
INSERT INTO `memory_text` (`memory_text`, `rank`) VALUES ('secure-delete', 1);
--> statement-breakpoint
-- Keeps no copy of what files say, only which words they hold.
CREATE VIRTUAL TABLE `file_text` USING fts5(`name`, `body`, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2');
--> statement-breakpoint
INSERT INTO `context_grant` (`kind`, `target`, `grantedMs`) VALUES ('notebook', '', 0), ('memory', '', 0);
