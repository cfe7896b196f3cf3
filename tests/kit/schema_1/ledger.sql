PRAGMA application_id = 1685091171;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE attempts (
    attempt INTEGER PRIMARY KEY, request_digest TEXT NOT NULL, request TEXT NOT NULL,
    first_nano INTEGER NOT NULL CHECK (first_nano >= 0), delta_atto INTEGER NOT NULL CHECK (delta_atto >= 0),
    by TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
INSERT INTO "attempts" VALUES(1,'d8518315886d924cf85d994de45c41344307362a3c2417d42ac6bd534e2668b0','{"data":{"n":30,"reading":{"names":["age"],"on":{"bits":2,"high":"20","type":"Line"},"type":"Columns"},"relation":"add_remove_one"},"draw":1,"format":"dpscope-request/1","mechanism":{"key":"identity","parameters":{"epsilon":"0.5"}},"queries":{"type":"Intervals"}}',500000000,0,'Grace','2026-11-22');
INSERT INTO "attempts" VALUES(2,'7e2b4f1b09ce807d2ebaf0bdb4cf0ceed31c6bb9f1bfa8ed0ea8e1f4fa51dc73','{"data":{"n":30,"reading":{"names":["age"],"on":{"bits":2,"high":"20","type":"Line"},"type":"Columns"},"relation":"add_remove_one"},"draw":2,"format":"dpscope-request/1","mechanism":{"key":"identity","parameters":{"epsilon":"0.5"}},"queries":{"type":"Intervals"}}',500000000,0,'Grace','2026-11-22');
INSERT INTO "attempts" VALUES(3,'18fd9956853b24722e2e651dde1da87a04ec901e5793928aaa98a316bb255ddb','{"data":{"n":30,"reading":{"names":["age"],"on":{"bits":2,"high":"20","type":"Line"},"type":"Columns"},"relation":"add_remove_one"},"draw":3,"format":"dpscope-request/1","mechanism":{"key":"identity","parameters":{"epsilon":"0.5"}},"queries":{"type":"Intervals"}}',500000000,0,'Grace','2026-11-22');
INSERT INTO "attempts" VALUES(4,'33393ff9263ac50006f32d0680feb10f04a0a23ff2f6a9827d1556384477d20f','{"data":{"n":30,"reading":{"names":["age"],"on":{"bits":2,"high":"20","type":"Line"},"type":"Columns"},"relation":"add_remove_one"},"draw":4,"format":"dpscope-request/1","mechanism":{"key":"identity","parameters":{"epsilon":"0.5"}},"queries":{"type":"Intervals"}}',500000000,0,'Grace','2026-11-22');
INSERT INTO "attempts" VALUES(5,'b6016efb6c55418c5c529af45e6e8cfc201bed8dad9ff958636b5edf55ef4d77','{"data":{"n":30,"reading":{"names":["age"],"on":{"bits":2,"high":"20","type":"Line"},"type":"Columns"},"relation":"add_remove_one"},"draw":5,"format":"dpscope-request/1","mechanism":{"key":"identity","parameters":{"epsilon":"0.5"}},"queries":{"type":"Intervals"}}',500000000,0,'Grace','2026-11-22');
INSERT INTO "attempts" VALUES(6,'3ef29bfb3e64ce0352a5bb9788340354570baaf3d0dce2de50d77511b0d53cd8','{"data":{"n":30,"reading":{"names":["age"],"on":{"bits":2,"high":"20","type":"Line"},"type":"Columns"},"relation":"add_remove_one"},"draw":6,"format":"dpscope-request/1","mechanism":{"key":"gaussian","parameters":{"delta":"1e-7","epsilon":"0.5"}},"queries":{"type":"Intervals"}}',500000000,100000000000,'Grace','2026-11-22');
INSERT INTO "attempts" VALUES(7,'a0a660cd76ca4f9aaf1e8b0cb3a5e04b807f5ff77ae42b7c210cd1382d38bd2b','{"data":{"n":30,"reading":{"names":["age"],"on":{"bits":2,"high":"20","type":"Line"},"type":"Columns"},"relation":"add_remove_one"},"draw":7,"format":"dpscope-request/1","mechanism":{"key":"identity","parameters":{"epsilon":"0.5"}},"queries":{"type":"Intervals"}}',500000000,0,'Grace','2026-11-22');
CREATE TABLE budgets (
    budget INTEGER PRIMARY KEY, measure TEXT NOT NULL CHECK (measure = 'sums'),
    first_nano INTEGER NOT NULL CHECK (first_nano > 0),
    delta_atto INTEGER NOT NULL CHECK (delta_atto BETWEEN 0 AND 999999999999999999),
    reason TEXT NOT NULL, by TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
INSERT INTO "budgets" VALUES(1,'sums',1000000000,1000000000000,'registered','Ada','2026-11-22');
INSERT INTO "budgets" VALUES(2,'sums',5000000000,1000000000000,'more questions','Ada','2026-11-22');
CREATE TABLE charges (
    entry INTEGER PRIMARY KEY, attempt INTEGER NOT NULL UNIQUE REFERENCES attempts (attempt),
    outcome TEXT NOT NULL CHECK (outcome IN ('stored', 'failed', 'machine failed')),
    request_digest TEXT NOT NULL, first_nano INTEGER NOT NULL, delta_atto INTEGER NOT NULL,
    budget INTEGER NOT NULL REFERENCES budgets (budget), body TEXT NOT NULL, salt TEXT NOT NULL,
    previous_digest TEXT NOT NULL, entry_digest TEXT NOT NULL
) STRICT;
INSERT INTO "charges" VALUES(1,1,'stored','d8518315886d924cf85d994de45c41344307362a3c2417d42ac6bd534e2668b0',500000000,0,1,'{"accuracy":{"assumptions":[],"beta":"0.05","reference":"Doob''s maximal inequality on the running sums of the noise","statement":"Noise of scale 2 rows in each of 4 cells moves the worst interval by at most 36 rows, except with chance 0.05.","worst_error":"nothing is promised"},"at":"2026-11-22","by":"Grace","data":{"dataset_id":"cff9255d66d6c0c86874092d3c43dd0d","name":"ages","person_column":"","public_n":30,"registered":"2026-11-22","relation":"add_remove_one","salt":"95934962616e5e1b9379f61d23a889f3","unit":{"kind":"row","rows_a_person":1,"stated_by":"Ada"}},"files":{"counts.csv":"5bf9464dfcf16b8c4af8f00b87f2b0e60d0e67dc74b2af9ceccf7487975af302"},"format":"dpscope-certificate/1","guarantee":{"delta":"0","epsilon":"0.5","relation":"add_remove_one","steward_saw_true_values":false,"unit":{"kind":"row","rows_a_person":1,"stated_by":"Ada"},"unprotected":[],"variant":"pure differential privacy","whole_data_set":{"budget":{"delta":"0.000001","epsilon":"1"},"machine_failures_declared":0,"rule":"sums of epsilon and of delta over all entries (sequential composition)","scope":"within this ledger only","spent":{"delta":"0","epsilon":"0.5"}}},"mechanism":{"key":"identity","parameters":{"epsilon":"0.5"},"sampler":"secure","test":"tests/dpcore/mechanisms/test_contract.py::test_exact_privacy[identity-add_remove_one]","theorems":["Dwork, McSherry, Nissim and Smith (2006)","Ghosh, Roughgarden and Sundararajan (2009)"],"title":"Identity histogram"},"release_id":"ae927c6af071595f09ac2d4de649b444","request":{"data":{"n":30,"reading":{"names":["age"],"on":{"bits":2,"high":"20","type":"Line"},"type":"Columns"},"relation":"add_remove_one"},"draw":1,"format":"dpscope-request/1","mechanism":{"key":"identity","parameters":{"epsilon":"0.5"}},"queries":{"type":"Intervals"}},"software":{"dpscope":"0.1.0","numpy":"2.4.6","opendp":"0.16.0","python":"3.11.7"},"tuning":{"charged_previews":0},"version":1}','a963902cd82bf84c82a3f93f92fff353','02bee16e1696832c74a9540d2f10a23276466e8c54f9bb04c8c71218e6f01b5e','752dcb6be0baa80fad92857f18d63c8cec0704237ee738f9f213d126bce27aeb');
INSERT INTO "charges" VALUES(2,2,'failed','7e2b4f1b09ce807d2ebaf0bdb4cf0ceed31c6bb9f1bfa8ed0ea8e1f4fa51dc73',500000000,0,2,'{"at":"2026-11-22","by":"Grace","reason":"The draw failed. As that may depend on the rows, the charge stays. Nothing was shown.","request":{"data":{"n":30,"reading":{"names":["age"],"on":{"bits":2,"high":"20","type":"Line"},"type":"Columns"},"relation":"add_remove_one"},"draw":2,"format":"dpscope-request/1","mechanism":{"key":"identity","parameters":{"epsilon":"0.5"}},"queries":{"type":"Intervals"}}}','9b64e44c39155c1afd6022b2a289d0b2','752dcb6be0baa80fad92857f18d63c8cec0704237ee738f9f213d126bce27aeb','e253eda1aeb1b12ad9cc84a6395957e0ee6622cc4bf0e9b092cb4511b8eff11d');
INSERT INTO "charges" VALUES(3,3,'failed','18fd9956853b24722e2e651dde1da87a04ec901e5793928aaa98a316bb255ddb',500000000,0,2,'{"at":"2026-11-22","by":"Grace","reason":"The draw did not finish, and nothing was shown. As that may depend on the rows, its charge stands.","request":{"data":{"n":30,"reading":{"names":["age"],"on":{"bits":2,"high":"20","type":"Line"},"type":"Columns"},"relation":"add_remove_one"},"draw":3,"format":"dpscope-request/1","mechanism":{"key":"identity","parameters":{"epsilon":"0.5"}},"queries":{"type":"Intervals"}}}','2abd1c2563366a8dbe1c499aa57bdaa7','e253eda1aeb1b12ad9cc84a6395957e0ee6622cc4bf0e9b092cb4511b8eff11d','6878e359fbe27b342c74a2d615d59fadac25bc681099e92c5286a6529ef4a4ef');
INSERT INTO "charges" VALUES(4,4,'stored','33393ff9263ac50006f32d0680feb10f04a0a23ff2f6a9827d1556384477d20f',500000000,0,2,'{"accuracy":{"assumptions":[],"beta":"0.05","reference":"Doob''s maximal inequality on the running sums of the noise","statement":"Noise of scale 2 rows in each of 4 cells moves the worst interval by at most 36 rows, except with chance 0.05.","worst_error":"nothing is promised"},"at":"2026-11-22","by":"Grace","data":{"dataset_id":"cff9255d66d6c0c86874092d3c43dd0d","name":"ages","person_column":"","public_n":30,"registered":"2026-11-22","relation":"add_remove_one","salt":"95934962616e5e1b9379f61d23a889f3","unit":{"kind":"row","rows_a_person":1,"stated_by":"Ada"}},"files":{"counts.csv":"4bf536f4c2a13b588d7dc1bf732348b9a03fd5d261331ec0de0de61d80cfd90b"},"format":"dpscope-certificate/1","guarantee":{"delta":"0","epsilon":"0.5","relation":"add_remove_one","steward_saw_true_values":true,"unit":{"kind":"row","rows_a_person":1,"stated_by":"Ada"},"unprotected":[],"variant":"pure differential privacy","whole_data_set":{"budget":{"delta":"0.000001","epsilon":"5"},"machine_failures_declared":0,"rule":"sums of epsilon and of delta over all entries (sequential composition)","scope":"within this ledger only","spent":{"delta":"0","epsilon":"2"}}},"mechanism":{"key":"identity","parameters":{"epsilon":"0.5"},"sampler":"secure","test":"tests/dpcore/mechanisms/test_contract.py::test_exact_privacy[identity-add_remove_one]","theorems":["Dwork, McSherry, Nissim and Smith (2006)","Ghosh, Roughgarden and Sundararajan (2009)"],"title":"Identity histogram"},"release_id":"b975932e531583885d20d333c2583ca3","request":{"data":{"n":30,"reading":{"names":["age"],"on":{"bits":2,"high":"20","type":"Line"},"type":"Columns"},"relation":"add_remove_one"},"draw":4,"format":"dpscope-request/1","mechanism":{"key":"identity","parameters":{"epsilon":"0.5"}},"queries":{"type":"Intervals"}},"software":{"dpscope":"0.1.0","numpy":"2.4.6","opendp":"0.16.0","python":"3.11.7"},"tuning":{"charged_previews":0},"version":1}','f41bb161f4b059c5edc2cac888f99a2b','6878e359fbe27b342c74a2d615d59fadac25bc681099e92c5286a6529ef4a4ef','769f9424c1ac905b4a82d87c4b28919a6742d57398411d848fcc0567d39f3b5e');
INSERT INTO "charges" VALUES(5,5,'machine failed','b6016efb6c55418c5c529af45e6e8cfc201bed8dad9ff958636b5edf55ef4d77',0,0,2,'{"at":"2026-11-22","by":"Ada","request":{"data":{"n":30,"reading":{"names":["age"],"on":{"bits":2,"high":"20","type":"Line"},"type":"Columns"},"relation":"add_remove_one"},"draw":5,"format":"dpscope-request/1","mechanism":{"key":"identity","parameters":{"epsilon":"0.5"}},"queries":{"type":"Intervals"}}}','ea235990d8007d6009755012a13c7362','769f9424c1ac905b4a82d87c4b28919a6742d57398411d848fcc0567d39f3b5e','9f2e284d2ccb645f020cccc66bc56ed614584b8da206eb8db2a46fc55f33c6ca');
INSERT INTO "charges" VALUES(6,6,'stored','3ef29bfb3e64ce0352a5bb9788340354570baaf3d0dce2de50d77511b0d53cd8',500000000,100000000000,2,'{"accuracy":{"assumptions":[],"beta":"0.05","reference":"Doob''s maximal inequality on the running sums of the noise","statement":"Gaussian noise of σ = 8.99 rows in each of 4 cells moves the worst interval by at most 98 rows, except with chance 0.05.","worst_error":"nothing is promised"},"at":"2026-11-22","by":"Grace","data":{"dataset_id":"cff9255d66d6c0c86874092d3c43dd0d","name":"ages","person_column":"","public_n":30,"registered":"2026-11-22","relation":"add_remove_one","salt":"95934962616e5e1b9379f61d23a889f3","unit":{"kind":"row","rows_a_person":1,"stated_by":"Ada"}},"files":{"counts.csv":"de7c00a91f6bb5b5b749c3c4c60c5f1952f2df70b6f2ceceedfe40597fa0681a"},"format":"dpscope-certificate/1","guarantee":{"delta":"0.0000001","epsilon":"0.5","relation":"add_remove_one","steward_saw_true_values":true,"unit":{"kind":"row","rows_a_person":1,"stated_by":"Ada"},"unprotected":[],"variant":"approximate differential privacy","whole_data_set":{"budget":{"delta":"0.000001","epsilon":"5"},"machine_failures_declared":1,"rule":"sums of epsilon and of delta over all entries (sequential composition)","scope":"within this ledger only","spent":{"delta":"0.0000001","epsilon":"2.5"}}},"mechanism":{"key":"gaussian","parameters":{"delta":"1e-7","epsilon":"0.5"},"sampler":"secure","test":"tests/dpcore/mechanisms/test_contract.py::test_exact_privacy[gaussian-add_remove_one]","theorems":["Canonne, Kamath and Steinke (2020)","Balle and Wang (2018)"],"title":"Gaussian histogram"},"release_id":"d0e90084689d57d24908d9ff6d378631","request":{"data":{"n":30,"reading":{"names":["age"],"on":{"bits":2,"high":"20","type":"Line"},"type":"Columns"},"relation":"add_remove_one"},"draw":6,"format":"dpscope-request/1","mechanism":{"key":"gaussian","parameters":{"delta":"1e-7","epsilon":"0.5"}},"queries":{"type":"Intervals"}},"software":{"dpscope":"0.1.0","numpy":"2.4.6","opendp":"0.16.0","python":"3.11.7"},"tuning":{"charged_previews":1},"version":1}','2fd45912a22ae6ac528ed683d4326c7d','9f2e284d2ccb645f020cccc66bc56ed614584b8da206eb8db2a46fc55f33c6ca','3b50f6afcd217c911e68a757f583fc2e7b27c23baa87977190e6e4cb063e614d');
CREATE TABLE datasets (
    dataset_id TEXT PRIMARY KEY, name TEXT NOT NULL, relation TEXT NOT NULL, public_n INTEGER NOT NULL,
    person_column TEXT NOT NULL, rows_a_person INTEGER NOT NULL CHECK (rows_a_person >= 1),
    salt TEXT NOT NULL, by TEXT NOT NULL, at TEXT NOT NULL,
    CHECK (relation IN ('replace_one', 'add_remove_one')),
    CHECK (person_column = '' AND rows_a_person = 1 OR person_column <> '' AND relation = 'add_remove_one')
) STRICT;
INSERT INTO "datasets" VALUES('cff9255d66d6c0c86874092d3c43dd0d','ages','add_remove_one',30,'',1,'95934962616e5e1b9379f61d23a889f3','Ada','2026-11-22');
CREATE TABLE draws (
    entry INTEGER NOT NULL REFERENCES charges (entry), name TEXT NOT NULL, contents BLOB NOT NULL,
    PRIMARY KEY (entry, name)
) STRICT;
INSERT INTO "draws" VALUES(1,'counts.csv',X'726566757365642C63656C6C2C76616C75652C726F77730A46616C73652C302C322E352C392E300A46616C73652C312C372E352C352E300A46616C73652C322C31322E352C352E300A46616C73652C332C31372E352C362E300A');
INSERT INTO "draws" VALUES(4,'counts.csv',X'726566757365642C63656C6C2C76616C75652C726F77730A46616C73652C302C322E352C312E300A46616C73652C312C372E352C362E300A46616C73652C322C31322E352C362E300A46616C73652C332C31372E352C362E300A');
INSERT INTO "draws" VALUES(6,'counts.csv',X'726566757365642C63656C6C2C76616C75652C726F77730A46616C73652C302C322E352C2D352E300A46616C73652C312C372E352C332E300A46616C73652C322C31322E352C332E300A46616C73652C332C31372E352C32312E300A');
CREATE TABLE events (event INTEGER PRIMARY KEY, what TEXT NOT NULL, by TEXT NOT NULL, at TEXT NOT NULL) STRICT;
INSERT INTO "events" VALUES(1,'the steward saw true values','Ada','2026-11-22');
CREATE TABLE publications (
    entry INTEGER PRIMARY KEY REFERENCES charges (entry), by TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
INSERT INTO "publications" VALUES(1,'Ada','2026-11-22');
INSERT INTO "publications" VALUES(6,'Ada','2026-11-22');
CREATE TABLE versions (
    version INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, by TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
INSERT INTO "versions" VALUES(1,'9ceec49f41fdf1b09c2992a743210b3db6c9876eb4f0bd5f3c570cf854196a1d','Ada','2026-11-22');
INSERT INTO "versions" VALUES(2,'b28fde35807526fbdeacb6f556cdc4821e3b52db192de7d3017d9428372be9ea','Ada','2026-11-22');
CREATE UNIQUE INDEX one_outcome ON charges (request_digest) WHERE outcome <> 'machine failed';
CREATE UNIQUE INDEX one_machine_failure ON charges (request_digest) WHERE outcome = 'machine failed';
CREATE VIEW begun AS SELECT * FROM attempts WHERE attempt NOT IN (SELECT attempt FROM charges);
CREATE VIEW spent AS
    SELECT (SELECT coalesce(sum(first_nano), 0) FROM charges) + (SELECT coalesce(sum(first_nano), 0) FROM begun)
               AS first_nano,
           (SELECT coalesce(sum(delta_atto), 0) FROM charges) + (SELECT coalesce(sum(delta_atto), 0) FROM begun)
               AS delta_atto;
CREATE VIEW allowed AS
    SELECT coalesce(max(budget), 0) AS budget,
           coalesce((SELECT first_nano FROM budgets ORDER BY budget DESC LIMIT 1), 0) AS first_nano,
           coalesce((SELECT delta_atto FROM budgets ORDER BY budget DESC LIMIT 1), 0) AS delta_atto
    FROM budgets;
CREATE TRIGGER datasets_never_change BEFORE UPDATE ON datasets
    BEGIN SELECT raise(ABORT, 'a ledger is never changed'); END;
CREATE TRIGGER datasets_never_go BEFORE DELETE ON datasets
    BEGIN SELECT raise(ABORT, 'a ledger is never shortened'); END;
CREATE TRIGGER versions_never_change BEFORE UPDATE ON versions
    BEGIN SELECT raise(ABORT, 'a ledger is never changed'); END;
CREATE TRIGGER versions_never_go BEFORE DELETE ON versions
    BEGIN SELECT raise(ABORT, 'a ledger is never shortened'); END;
CREATE TRIGGER budgets_never_change BEFORE UPDATE ON budgets
    BEGIN SELECT raise(ABORT, 'a ledger is never changed'); END;
CREATE TRIGGER budgets_never_go BEFORE DELETE ON budgets
    BEGIN SELECT raise(ABORT, 'a ledger is never shortened'); END;
CREATE TRIGGER attempts_never_change BEFORE UPDATE ON attempts
    BEGIN SELECT raise(ABORT, 'a ledger is never changed'); END;
CREATE TRIGGER attempts_never_go BEFORE DELETE ON attempts
    BEGIN SELECT raise(ABORT, 'a ledger is never shortened'); END;
CREATE TRIGGER charges_never_change BEFORE UPDATE ON charges
    BEGIN SELECT raise(ABORT, 'a ledger is never changed'); END;
CREATE TRIGGER charges_never_go BEFORE DELETE ON charges
    BEGIN SELECT raise(ABORT, 'a ledger is never shortened'); END;
CREATE TRIGGER draws_never_change BEFORE UPDATE ON draws
    BEGIN SELECT raise(ABORT, 'a ledger is never changed'); END;
CREATE TRIGGER draws_never_go BEFORE DELETE ON draws
    BEGIN SELECT raise(ABORT, 'a ledger is never shortened'); END;
CREATE TRIGGER publications_never_change BEFORE UPDATE ON publications
    BEGIN SELECT raise(ABORT, 'a ledger is never changed'); END;
CREATE TRIGGER publications_never_go BEFORE DELETE ON publications
    BEGIN SELECT raise(ABORT, 'a ledger is never shortened'); END;
CREATE TRIGGER events_never_change BEFORE UPDATE ON events
    BEGIN SELECT raise(ABORT, 'a ledger is never changed'); END;
CREATE TRIGGER events_never_go BEFORE DELETE ON events
    BEGIN SELECT raise(ABORT, 'a ledger is never shortened'); END;
CREATE TRIGGER versions_in_order BEFORE INSERT ON versions
    WHEN NEW.version IS NOT (SELECT count(*) + 1 FROM versions)
    BEGIN SELECT raise(ABORT, 'entries are numbered in order'); END;
CREATE TRIGGER budgets_in_order BEFORE INSERT ON budgets
    WHEN NEW.budget IS NOT (SELECT count(*) + 1 FROM budgets)
    BEGIN SELECT raise(ABORT, 'entries are numbered in order'); END;
CREATE TRIGGER attempts_in_order BEFORE INSERT ON attempts
    WHEN NEW.attempt IS NOT (SELECT count(*) + 1 FROM attempts)
    BEGIN SELECT raise(ABORT, 'entries are numbered in order'); END;
CREATE TRIGGER charges_in_order BEFORE INSERT ON charges
    WHEN NEW.entry IS NOT (SELECT count(*) + 1 FROM charges)
    BEGIN SELECT raise(ABORT, 'entries are numbered in order'); END;
CREATE TRIGGER events_in_order BEFORE INSERT ON events
    WHEN NEW.event IS NOT (SELECT count(*) + 1 FROM events)
    BEGIN SELECT raise(ABORT, 'entries are numbered in order'); END;
CREATE TRIGGER one_dataset BEFORE INSERT ON datasets WHEN EXISTS (SELECT 1 FROM datasets)
    BEGIN SELECT raise(ABORT, 'one file holds one data set'); END;
CREATE TRIGGER one_version BEFORE INSERT ON versions
    WHEN EXISTS (SELECT 1 FROM versions WHERE fingerprint = NEW.fingerprint)
    BEGIN SELECT raise(ABORT, 'these rows are registered'); END;
CREATE TRIGGER budget_covers BEFORE INSERT ON budgets
    WHEN NEW.first_nano < (SELECT first_nano FROM spent) OR NEW.delta_atto < (SELECT delta_atto FROM spent)
    BEGIN SELECT raise(ABORT, 'a budget covers what is spent'); END;
CREATE TRIGGER attempt_within_budget BEFORE INSERT ON attempts
    WHEN NEW.first_nano > (SELECT first_nano FROM allowed) - (SELECT first_nano FROM spent)
      OR NEW.delta_atto > (SELECT delta_atto FROM allowed) - (SELECT delta_atto FROM spent)
    BEGIN SELECT raise(ABORT, 'over budget'); END;
CREATE TRIGGER charge_of_an_attempt BEFORE INSERT ON charges
    WHEN NOT EXISTS (
        SELECT 1 FROM begun WHERE attempt = NEW.attempt AND request_digest = NEW.request_digest
        AND (NEW.outcome = 'machine failed' AND NEW.first_nano = 0 AND NEW.delta_atto = 0
             OR NEW.outcome <> 'machine failed' AND NEW.first_nano = begun.first_nano
                AND NEW.delta_atto = begun.delta_atto))
    BEGIN SELECT raise(ABORT, 'a charge is that of an attempt without an outcome'); END;
CREATE TRIGGER charge_once BEFORE INSERT ON charges
    WHEN EXISTS (SELECT 1 FROM charges WHERE request_digest = NEW.request_digest
                 AND (outcome = 'machine failed') = (NEW.outcome = 'machine failed'))
    BEGIN SELECT raise(ABORT, 'a request is charged once'); END;
CREATE TRIGGER charge_continues_the_chain BEFORE INSERT ON charges
    WHEN NEW.entry > 1 AND NEW.previous_digest IS NOT (SELECT entry_digest FROM charges ORDER BY entry DESC LIMIT 1)
      OR NEW.budget IS NOT (SELECT budget FROM allowed)
    BEGIN SELECT raise(ABORT, 'an entry names the one before it'); END;
CREATE TRIGGER draw_of_a_charge BEFORE INSERT ON draws
    WHEN EXISTS (SELECT 1 FROM draws WHERE entry = NEW.entry AND name = NEW.name)
      OR NEW.entry IS NOT (SELECT max(entry) FROM charges WHERE outcome = 'stored')
    BEGIN SELECT raise(ABORT, 'a draw belongs to its charge'); END;
CREATE TRIGGER publish_once BEFORE INSERT ON publications
    WHEN EXISTS (SELECT 1 FROM publications WHERE entry = NEW.entry)
      OR NOT EXISTS (SELECT 1 FROM charges WHERE entry = NEW.entry AND outcome = 'stored')
    BEGIN SELECT raise(ABORT, 'what is stored is published once'); END;
COMMIT;
