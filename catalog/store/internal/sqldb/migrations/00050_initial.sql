-- +goose Up
-- One template for all engines, which fill in @ID, @AUTOID (the engine gives ids),
-- @BYTES, @CLUSTERED and @RANDOM (schemaTokens); a line that begins with @POSTGRES is for
-- that engine alone. Times are microseconds since 1970, NULL for the zero
-- time; flags are 0 or 1. Only surplus layout blocks and solved problems are
-- deleted: ids are permanent.

-- The one row for which writers queue, last in a step: this makes change ids
-- dense and visible in ascending order.
CREATE TABLE clock (
  one          SMALLINT PRIMARY KEY CHECK (one = 1),
  generation   BIGINT NOT NULL,
  last_change  BIGINT NOT NULL,
  newest_token BIGINT NOT NULL DEFAULT 0,
  -- The newest generation that may have changed every answer: of settings, or of the
  -- marks of authors. All other generations change the components that have them.
  configured   BIGINT NOT NULL DEFAULT 0,
  -- The name of what generations count: renewed when a backup becomes the database,
  -- since the same generation may then be another state.
  history      TEXT NOT NULL DEFAULT '',
  -- The newest generation of anything that strangers may see, or could see before it.
  public       BIGINT NOT NULL DEFAULT 0,
  -- The schema of the oldest version that may still work with this one. Migrations add,
  -- so that versions can run side by side; one that changes or removes what older versions
  -- read raises it.
  floor        BIGINT NOT NULL DEFAULT 50,
  -- The newest version of the checks that any process has.
  checks       BIGINT NOT NULL DEFAULT 0
);
INSERT INTO clock (one, generation, last_change, history) VALUES (1, 0, 0, @RANDOM);

CREATE TABLE projects (
  id                  @AUTOID PRIMARY KEY,
  slug                TEXT NOT NULL UNIQUE,
  settings            TEXT NOT NULL,
  active              SMALLINT NOT NULL,
  changes             BIGINT NOT NULL DEFAULT 0,
  settings_generation BIGINT NOT NULL,
  generation          BIGINT NOT NULL
);

CREATE TABLE components (
  id                  @AUTOID PRIMARY KEY,
  project_id          BIGINT NOT NULL REFERENCES projects (id),
  slug                TEXT NOT NULL,
  settings            TEXT NOT NULL,
  read_key            TEXT NOT NULL,  -- ComponentSettings.ReadKey of settings
  repo                TEXT NOT NULL,  -- no credentials
  branch              TEXT NOT NULL,
  template            TEXT NOT NULL,  -- slug pattern that discovered it, or ''
  active              SMALLINT NOT NULL,
  tracking            TEXT NOT NULL DEFAULT '',
  head                TEXT NOT NULL DEFAULT '',
  imported            SMALLINT NOT NULL DEFAULT 0,  -- ever reached a head
  reread              SMALLINT NOT NULL DEFAULT 0,  -- head was reset, units are there
  problem             TEXT NOT NULL DEFAULT '',
  last_unit           BIGINT NOT NULL DEFAULT 0,
  last_delta          BIGINT NOT NULL DEFAULT 0,
  last_at             BIGINT,  -- time of the newest entry
  changes             BIGINT NOT NULL DEFAULT 0,
  settings_generation BIGINT NOT NULL,
  generation          BIGINT NOT NULL,
  -- When the first replay of a component's history began (microseconds). Its
  -- entries are never later (docs/compatibility.md#history), even if the import is
  -- killed and continued on another day. NULL: nothing of the component was stored yet.
  import_at           BIGINT,
  -- A description of the head: JSON of catalog.Commit. It is NULL or describes
  -- another commit if the head is unknown.
  head_commit         TEXT,
  -- Whether the strings of the component are counted in the table behind.
  behind              SMALLINT NOT NULL DEFAULT 0,
  -- The newest change of a component, or of anything below it, beside that of its
  -- head: a commit moves the heads of all components of a repository, and changes the
  -- content of few.
  content_generation  BIGINT NOT NULL DEFAULT 0,
  -- Whether edits of a component are refused for now.
  locked              SMALLINT NOT NULL DEFAULT 0,
  -- Why the last push of edits failed; '' if it did not.
  push_problem        TEXT NOT NULL DEFAULT '',
  -- The kinds of the failures whose words are in problem and push_problem, and since when they
  -- failed, in microseconds; '' and NULL if they did not.
  problem_kind        TEXT NOT NULL DEFAULT '',
  problem_since       BIGINT,
  push_problem_kind   TEXT NOT NULL DEFAULT '',
  push_problem_since  BIGINT,
  -- For the check long_untranslated: the smallest units.since, NULL if that is not known.
  -- Which strings of the table behind fail was decided last for the percentage
  -- behind_percent, in tenths, and the time before which strings are old, behind_before;
  -- NULL if the table does not have the component.
  oldest              BIGINT,
  behind_before       BIGINT,
  behind_percent      BIGINT,
  UNIQUE (project_id, slug)
);
CREATE INDEX components_branch ON components (repo, branch);
-- What changed since a generation.
CREATE INDEX components_generation ON components (generation, project_id, content_generation);

-- (component_id, language) is unique among live rows. Two files may swap their
-- codes within one step, so the step checks it at its end, not the index.
CREATE TABLE translations (
  id                       @AUTOID PRIMARY KEY,
  component_id             BIGINT NOT NULL REFERENCES components (id),
  language                 TEXT NOT NULL,
  file_code                TEXT NOT NULL,
  filename                 TEXT NOT NULL,
  revision                 TEXT NOT NULL,
  is_source                SMALLINT NOT NULL,
  removed                  SMALLINT NOT NULL,
  plural_number            INTEGER NOT NULL,
  plural_formula           TEXT NOT NULL,
  outline                  BIGINT NOT NULL,
  total                    BIGINT NOT NULL, total_words      BIGINT NOT NULL, total_chars      BIGINT NOT NULL,
  translated               BIGINT NOT NULL, translated_words BIGINT NOT NULL, translated_chars BIGINT NOT NULL,
  fuzzy                    BIGINT NOT NULL, fuzzy_words      BIGINT NOT NULL, fuzzy_chars      BIGINT NOT NULL,
  readonly                 BIGINT NOT NULL, readonly_words   BIGINT NOT NULL, readonly_chars   BIGINT NOT NULL,
  failing                  BIGINT NOT NULL, failing_words    BIGINT NOT NULL, failing_chars    BIGINT NOT NULL,
  changes                  BIGINT NOT NULL DEFAULT 0,
  last_change_at           BIGINT,
  last_author_id           BIGINT,
  generation               BIGINT NOT NULL,
  -- Entries 31, 59 and 63 of the six hours up to last_change_at: part of the
  -- statistics, kept like the other counts.
  recent_changes           BIGINT NOT NULL DEFAULT 0,
  -- Numbers of units with a comment and with a suggestion.
  comments                 BIGINT NOT NULL DEFAULT 0,
  suggestions              BIGINT NOT NULL DEFAULT 0,
  -- The key with which the units of a translation were checked; '' if they were
  -- not: others are then not compared with them.
  checked                  TEXT NOT NULL DEFAULT '',
  -- compared_scopes.id; 0: it is not compared.
  scope_id                 BIGINT NOT NULL DEFAULT 0,
  -- Whether a source translation is made from a template (-1: not known, it is read again),
  -- and how the units of a translation compare with it (catalog.Against).
  template                 SMALLINT NOT NULL DEFAULT 0,
  extra                    BIGINT NOT NULL DEFAULT 0,
  extra_words              BIGINT NOT NULL DEFAULT 0,
  changed                  BIGINT NOT NULL DEFAULT 0,
  changed_translated       BIGINT NOT NULL DEFAULT 0,
  changed_translated_words BIGINT NOT NULL DEFAULT 0,
  changed_fuzzy            BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX translations_language ON translations (component_id, language);
CREATE INDEX translations_generation ON translations (generation);
-- Lists over many components: which languages there are, which translations.
CREATE INDEX translations_live ON translations (component_id, removed, language);
CREATE INDEX translations_unchecked ON translations (component_id) WHERE checked = '' AND removed = 0;
CREATE INDEX translations_scope ON translations (scope_id) WHERE scope_id > 0;

-- Only source units have source text, context, words and chars: 193 MB instead
-- of 287 MB at 20 languages.
CREATE TABLE units (
  id              @ID PRIMARY KEY,  -- component id * 2^28 + n
  translation_id  BIGINT NOT NULL,
  source_id       BIGINT NOT NULL,  -- itself for a source unit
  id_hash         BIGINT NOT NULL,
  id_key          BIGINT NOT NULL,
  text_print      BIGINT NOT NULL,
  meta_print      BIGINT NOT NULL,
  removed         SMALLINT NOT NULL,
  state           SMALLINT NOT NULL,
  priority        INTEGER NOT NULL,
  words           INTEGER,
  chars           INTEGER,
  source          TEXT,
  context         TEXT,
  target          TEXT NOT NULL,
  previous_source TEXT NOT NULL,
  note            TEXT NOT NULL,
  flags           TEXT NOT NULL,
  created         BIGINT,
  -- The number of bytes at the start of a note that are translator comments. The
  -- index has the few units that have any.
  remark          INTEGER NOT NULL DEFAULT 0,
  -- The committer time of the commit that brought a source string, for the check
  -- long_untranslated; NULL if that is created.
  since           BIGINT
);
CREATE INDEX units_remark ON units (translation_id, source_id, remark, removed) WHERE remark > 0 AND removed = 0;
-- What Diff reads of units, in the order of their source units, which is nearly that
-- of their ids: appended by an import, and read with the rows one after the other. In
-- the order of hashes a fifth of the processor time of an import of a million units
-- was spent here.
CREATE INDEX units_known ON units (translation_id, source_id, id, id_hash, id_key, text_print, meta_print, removed);
-- Finds strings by their hash, in one component or in all: source units. Those of other
-- languages are found by source_id.
CREATE INDEX units_strings ON units (id_hash, translation_id, id_key, source_id, removed) WHERE source_id = id;

-- 256 live units in id order: id, position, location. An insertion at the top
-- of 50,000 units rewrites blocks in 14 ms where rows took 144 ms.
CREATE TABLE layouts (
  translation_id BIGINT NOT NULL,
  block          INTEGER NOT NULL,
  first_unit     BIGINT NOT NULL,
  data           @BYTES NOT NULL,
  PRIMARY KEY (translation_id, block)
) @CLUSTERED;
CREATE INDEX layouts_unit ON layouts (translation_id, first_unit);

CREATE TABLE users (
  id         @AUTOID PRIMARY KEY,
  email_hash TEXT NOT NULL UNIQUE,
  username   TEXT NOT NULL UNIQUE,
  full_name  TEXT NOT NULL,
  bot        SMALLINT NOT NULL DEFAULT 0,
  joined     BIGINT
);

-- One file in one commit of origin. first_* is the rank, from 1, of its first
-- entry in each list that contains it: a page is a range, however deep.
CREATE TABLE deltas (
  id                   @ID PRIMARY KEY,  -- component id * 2^28 + n
  project_id           BIGINT NOT NULL,
  component_id         BIGINT NOT NULL,
  translation_id       BIGINT,
  first_change         BIGINT NOT NULL,
  first_in_project     BIGINT NOT NULL,
  first_in_component   BIGINT NOT NULL,
  first_in_translation BIGINT,
  n                    INTEGER NOT NULL,
  added                INTEGER NOT NULL,
  updated              INTEGER NOT NULL,
  removed              INTEGER NOT NULL,
  author_id            BIGINT,
  at                   BIGINT NOT NULL,
  commit_hash          TEXT NOT NULL,
  commit_time          BIGINT,
  -- Names in the Co-authored-by trailers of the commit, a JSON array; NULL without
  -- trailers.
  co_authors           TEXT
);
CREATE UNIQUE INDEX deltas_change ON deltas (first_change);
CREATE INDEX deltas_project ON deltas (project_id, first_in_project, first_change, n, added, updated, removed, at);
-- Filtered change lists are sums over deltas. The index that gives the order has
-- all columns of the sums: filters by user read author_id, filters by time read
-- at.
CREATE INDEX deltas_server ON deltas (first_change, n, added, updated, removed, at);
CREATE INDEX deltas_component ON deltas (component_id, first_in_component, first_change, n, added, updated, removed, at, author_id);
CREATE INDEX deltas_translation ON deltas (translation_id, first_in_translation, first_change, n, added, updated, removed, at, author_id);
CREATE INDEX deltas_author ON deltas (author_id, first_change, n, added, updated, removed, at, translation_id, component_id, project_id);

CREATE TABLE changes (
  delta_id   BIGINT NOT NULL,
  n          INTEGER NOT NULL,  -- id = first_change + n
  action     SMALLINT NOT NULL,
  unit_id    BIGINT,
  state      SMALLINT NOT NULL,
  old_state  SMALLINT NOT NULL,
  target     TEXT NOT NULL,
  old_target TEXT NOT NULL,
  event      TEXT,  -- JSON object
  PRIMARY KEY (delta_id, n)
) @CLUSTERED;
-- The history of one string.
CREATE INDEX changes_unit ON changes (unit_id, delta_id, n) WHERE unit_id IS NOT NULL;

CREATE TABLE files (
  translation_id BIGINT NOT NULL PRIMARY KEY,
  blob           TEXT NOT NULL,
  modified       BIGINT,
  data           @BYTES NOT NULL,  -- zstd
  -- A file longer than 256 KiB is stored in pieces that end at paragraphs which its own
  -- text selects, so that a new version rewrites only pieces that differ. This lists
  -- them (file_pieces.go), and data is empty. NULL: data has the whole file.
  pieces         @BYTES
);

CREATE TABLE problems (
  component_id BIGINT NOT NULL,
  path         TEXT NOT NULL,
  blob         TEXT NOT NULL,
  line         INTEGER NOT NULL,
  col          INTEGER NOT NULL,
  message      TEXT NOT NULL,
  PRIMARY KEY (component_id, path)
) @CLUSTERED;
-- An index row of PostgreSQL has 2,704 bytes, the path of a file that is refused up to
-- 16 KiB. A component has few problems.
@POSTGRES ALTER TABLE problems DROP CONSTRAINT problems_pkey;
@POSTGRES CREATE INDEX problems_component ON problems (component_id);

-- The statistics of a translation at the end of each day (UTC, days since 1970)
-- on which they were written. On other days they are those of the last day before.
-- data is a version and varints (stored.EncodeDay), without any if
-- the file was removed.
CREATE TABLE stat_days (
  translation_id BIGINT NOT NULL,
  day            INTEGER NOT NULL,
  data           @BYTES NOT NULL,
  PRIMARY KEY (translation_id, day)
) @CLUSTERED;

-- Access tokens: hash is the SHA-256 of the secret, which is random, long and
-- not stored. AUTOINCREMENT is not portable: newest_token of the clock prevents
-- that an id is used twice.
CREATE TABLE tokens (
  id           @ID PRIMARY KEY,
  name         TEXT NOT NULL UNIQUE,
  hash         @BYTES NOT NULL UNIQUE,
  scope        TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  -- When a token ends, in microseconds; 0: never. The last day on which it was used,
  -- counted from 1970; 0: never.
  expires_at   BIGINT NOT NULL DEFAULT 0,
  used_day     BIGINT NOT NULL DEFAULT 0,
  -- The slugs of the projects that a token is for, and the codes of the languages that it
  -- may edit: in ascending order, a space between two; empty: all.
  projects     TEXT NOT NULL DEFAULT '',
  languages    TEXT NOT NULL DEFAULT '',
  -- Who a token writes as, for commits.
  author_name  TEXT NOT NULL DEFAULT '',
  author_email TEXT NOT NULL DEFAULT ''
);

-- The failing quality checks of live units, as bits of catalog/checks. Units
-- without failing checks have no row; usually that is five of six.
CREATE TABLE failing (
  unit_id        @ID PRIMARY KEY,
  translation_id BIGINT NOT NULL,
  source_id      BIGINT NOT NULL,
  low            BIGINT NOT NULL,
  high           BIGINT NOT NULL
);
CREATE INDEX failing_translation ON failing (translation_id, unit_id, low, high);
CREATE INDEX failing_source ON failing (source_id, unit_id, low, high);

-- Texts that other branches have for live units, one per branch. The author need
-- not be a user, since users are authors of entries: author_key is like
-- users.email_hash.
CREATE TABLE suggestions (
  unit_id        BIGINT NOT NULL,
  branch         TEXT NOT NULL,
  translation_id BIGINT NOT NULL,
  target         TEXT NOT NULL,
  author_name    TEXT NOT NULL,
  author_key     TEXT NOT NULL,
  at             BIGINT,
  commit_hash    TEXT NOT NULL,
  PRIMARY KEY (unit_id, branch)
) @CLUSTERED;
CREATE INDEX suggestions_translation ON suggestions (translation_id, unit_id);

-- Lagging strings: source strings translated in fewer than half of a component's
-- languages, for the check long_untranslated. Components are counted (components.behind)
-- once they have strings that are old enough; created is the unit's.
CREATE TABLE behind (
  component_id BIGINT NOT NULL,
  created      BIGINT NOT NULL,
  source_id    BIGINT NOT NULL,
  total        INTEGER NOT NULL,
  translated   INTEGER NOT NULL,
  PRIMARY KEY (component_id, created, source_id)
) @CLUSTERED;

-- Scopes: translations whose units are compared with each other, for the checks
-- inconsistent and reused. rule is what they have in common; sole_id is the only
-- translation that a scope ever had, or 0.
CREATE TABLE compared_scopes (
  id            @AUTOID PRIMARY KEY,
  project_id    BIGINT NOT NULL,
  rule          TEXT NOT NULL,
  plural_number INTEGER NOT NULL,
  sole_id       BIGINT NOT NULL,
  UNIQUE (project_id, rule)
);

-- The groups of a scope: units with the same source (even keys, only if the scope
-- has several translations) and units with the same target (odd keys). value is a
-- hash of what the members of a group may differ in. The smallest and the largest
-- value of a group tell which members fail, so no group is ever counted.
CREATE TABLE compared_units (
  scope_id BIGINT NOT NULL,
  key      BIGINT NOT NULL,
  value    BIGINT NOT NULL,
  unit_id  BIGINT NOT NULL,
  PRIMARY KEY (scope_id, key, value, unit_id)
) @CLUSTERED;

CREATE TABLE file_pieces (
  id   @AUTOID PRIMARY KEY,
  data @BYTES NOT NULL  -- zstd
);

-- What was done with tokens, never changed and never deleted.
CREATE TABLE token_events (
  id         @ID PRIMARY KEY,
  at         BIGINT NOT NULL,
  event      TEXT NOT NULL,
  name       TEXT NOT NULL,
  scope      TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  projects   TEXT NOT NULL DEFAULT '',
  languages  TEXT NOT NULL DEFAULT ''
);

-- How many strings of a translation fail each quality check, counted by the steps that
-- change rows of failing. check_id is the check's bit in failing.
CREATE TABLE check_counts (
  component_id   BIGINT NOT NULL,
  check_id       BIGINT NOT NULL,
  translation_id BIGINT NOT NULL,
  units          BIGINT NOT NULL,
  PRIMARY KEY (component_id, check_id, translation_id)
) @CLUSTERED;

-- The journal: what people changed through the API since the repository's text (base). kind
-- says what: the text of a string (unit_id), a string that is added to a file, or a file that
-- is added or removed, whose language, path and string the row has itself. A row is never
-- deleted. A unit, a path, or a string of it, has at most one row that is pending.
CREATE TABLE edits (
  id             @AUTOID PRIMARY KEY,
  kind           TEXT NOT NULL DEFAULT 'text',
  component_id   BIGINT NOT NULL DEFAULT 0,
  translation_id BIGINT NOT NULL,
  unit_id        BIGINT NOT NULL,
  language       TEXT NOT NULL DEFAULT '',
  path           TEXT NOT NULL DEFAULT '',
  id_hash        BIGINT NOT NULL DEFAULT 0,
  id_key         BIGINT NOT NULL DEFAULT 0,
  context        TEXT NOT NULL DEFAULT '',
  source         TEXT NOT NULL DEFAULT '',
  base_target    TEXT NOT NULL,
  base_state     SMALLINT NOT NULL,
  target         TEXT NOT NULL,
  state          SMALLINT NOT NULL,
  status         TEXT NOT NULL,
  reason         TEXT NOT NULL,
  created_at     BIGINT NOT NULL,
  updated_at     BIGINT NOT NULL,
  -- Whether a client asked to commit just the text of an edit, which clones then have.
  committed      SMALLINT NOT NULL DEFAULT 0,
  -- Since when the file of a pending edit lacks its string, or a file cannot be added or
  -- removed, in microseconds; 0 if that is not so.
  away_at        BIGINT NOT NULL DEFAULT 0,
  -- Since when an edit has a text that no branch of ours has; 0: since updated_at.
  since          BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX edits_pending ON edits (unit_id, component_id, path, id_hash, id_key) WHERE status = 'pending';
CREATE INDEX edits_component ON edits (component_id, status, id);
CREATE INDEX edits_translation ON edits (translation_id, status, id);

-- Who wrote a text of an edit, each once, with the time of the last one. The address is
-- for commits only.
CREATE TABLE edit_authors (
  edit_id BIGINT NOT NULL,
  name    TEXT NOT NULL,
  email   TEXT NOT NULL,
  at      BIGINT NOT NULL,
  -- The number of the event of an author's last text: times come from clocks, which differ.
  n       INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (edit_id, name, email)
) @CLUSTERED;

-- What happened to an edit, never changed and never deleted.
CREATE TABLE edit_events (
  edit_id BIGINT NOT NULL,
  n       INTEGER NOT NULL,
  at      BIGINT NOT NULL,
  name    TEXT NOT NULL,
  event   TEXT NOT NULL,
  target  TEXT NOT NULL,
  state   SMALLINT NOT NULL,
  PRIMARY KEY (edit_id, n)
) @CLUSTERED;

-- Branches that are ours and wholly derived: where they were put last (at_commit), where
-- a push that may have been interrupted puts them (next_commit), and the request to
-- merge them.
CREATE TABLE push_branches (
  repo        TEXT NOT NULL,
  branch      TEXT NOT NULL,
  at_commit   TEXT NOT NULL,
  next_commit TEXT NOT NULL,
  request     BIGINT NOT NULL DEFAULT 0,
  request_url TEXT NOT NULL DEFAULT '',
  -- Sums of the texts that the request was given last, and the branch to merge it into:
  -- others are somebody else's.
  request_title TEXT NOT NULL DEFAULT '',
  request_body TEXT NOT NULL DEFAULT '',
  request_base TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (repo, branch)
) @CLUSTERED;

-- Sessions of browsers: hash is the SHA-256 of what the cookie has. A session shows what
-- its token shows, and ends with it.
CREATE TABLE sessions (
  hash       @BYTES PRIMARY KEY,
  token_id   BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
) @CLUSTERED;

-- What the processes of a cluster share (PostgreSQL; in SQLite these are empty).

-- One row for each branch of a repository: who pulls it, and when it is due.
CREATE TABLE mirrors (
  branch       TEXT PRIMARY KEY,  -- ingest.BranchKey
  project      TEXT NOT NULL,  -- to share out pulls
  host         TEXT NOT NULL,  -- '': a local repository
  active       SMALLINT NOT NULL,
  token        BIGINT NOT NULL DEFAULT 0,  -- one more with each lease
  holder       TEXT NOT NULL DEFAULT '',  -- processes.id; '': nobody
  expires      BIGINT,  -- of the lease
  due          BIGINT,  -- NULL: only if it is wished
  wished       BIGINT,  -- since when
  wished_by    TEXT NOT NULL DEFAULT '',
  started      BIGINT,  -- the last pull
  ended        BIGINT,
  succeeded    BIGINT,
  failures     INTEGER NOT NULL DEFAULT 0,  -- in a row
  problem      TEXT NOT NULL DEFAULT '',  -- of the last pull that ended
  -- Since when a push of a branch is wished that was not tried yet (PostgreSQL).
  push_wished  BIGINT,
  -- Since when a new clone of a mirror is wished that was not tried yet (PostgreSQL).
  clone_wished BIGINT
);
-- What makes a branch one to take, so that a look costs what is due and not what there is.
CREATE INDEX mirrors_due ON mirrors (due) WHERE holder = '' AND active = 1;
CREATE INDEX mirrors_wished ON mirrors (wished) WHERE holder = '' AND active = 1 AND wished IS NOT NULL;
CREATE INDEX mirrors_expires ON mirrors (expires) WHERE holder <> '';

CREATE TABLE processes (
  id          TEXT PRIMARY KEY,
  machine     TEXT NOT NULL,
  pid         BIGINT NOT NULL,
  work        TEXT NOT NULL,
  version     TEXT NOT NULL,
  fingerprint TEXT NOT NULL,  -- of its configuration
  started     BIGINT NOT NULL,
  seen        BIGINT NOT NULL,
  -- What a process says of itself: the local branches that it does not have, as JSON, and
  -- why it pulls less than it could.
  lacks       TEXT NOT NULL DEFAULT '[]',
  problem     TEXT NOT NULL DEFAULT ''
);

-- The copies of the configuration that were ever seen; n is their order.
CREATE TABLE configurations (
  fingerprint TEXT PRIMARY KEY,
  revision    BIGINT NOT NULL,
  n           BIGINT NOT NULL,
  seen        BIGINT NOT NULL
);

-- What clients used of a limit until the span of the limit ends, counted by all
-- processes of a cluster together (PostgreSQL; in SQLite it is empty).
CREATE TABLE spent (
  client TEXT PRIMARY KEY,  -- a hash of the limit and of the client
  used   BIGINT NOT NULL,
  ends   BIGINT NOT NULL
);
CREATE INDEX spent_ends ON spent (ends);

-- The server that the database was on when the history of the clock began: its
-- identifier and its timeline (PostgreSQL; in SQLite it is empty).
CREATE TABLE servers (
  one      SMALLINT PRIMARY KEY,
  identity TEXT NOT NULL
);

-- What was sent to a repository and may still arrive there: a text of a string (unit_id), or
-- an edit of a file (edit_id), in the order in which the texts of a string were first
-- sent there (n). repo and branch say where; branch '' is the branch that is read. at_commit
-- is the commit of our branch that has it, next_commit that of a push whose end is not known;
-- without both it is a text that our branch had until left_at, which others may have fetched.
-- by_name and by_email say who gave the string another text when its edit had ended.
CREATE TABLE sent (
  unit_id        BIGINT NOT NULL,
  edit_id        BIGINT NOT NULL,
  n              INTEGER NOT NULL,
  component_id   BIGINT NOT NULL,
  translation_id BIGINT NOT NULL,
  target         TEXT NOT NULL,
  state          SMALLINT NOT NULL,
  repo           TEXT NOT NULL,
  branch         TEXT NOT NULL,
  at_commit      TEXT NOT NULL,
  next_commit    TEXT NOT NULL,
  left_at        BIGINT NOT NULL,
  by_name        TEXT NOT NULL DEFAULT '',
  by_email       TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (unit_id, edit_id, n)
) @CLUSTERED;
CREATE INDEX sent_component ON sent (component_id, translation_id);
CREATE INDEX sent_place ON sent (branch, repo);

-- When the edits of a branch are pushed again (ingest.BranchKey), for all processes.
CREATE TABLE push_waits (
  branch    TEXT PRIMARY KEY,
  failures  INTEGER NOT NULL,  -- pushes in a row that failed
  held      INTEGER NOT NULL,  -- pushes in a row that left edits pending
  unreached SMALLINT NOT NULL,  -- the repository could not be fetched
  ended     BIGINT,  -- the last push
  later     BIGINT,  -- nothing is pushed before
  held_till BIGINT,  -- what the last push left is not tried before
  until     BIGINT,  -- the forge wants no requests before
  wish      BIGINT NOT NULL  -- what a client of the cluster wished when a push failed; 0: nothing
);

-- The live source strings that only translations have, of components with a template:
-- changed_to is the template's string with the same msgid and another msgid_plural, or 0.
CREATE TABLE extra_strings (
  source_id  @ID PRIMARY KEY,
  changed_to BIGINT NOT NULL
);
CREATE INDEX extra_strings_changed ON extra_strings (changed_to) WHERE changed_to > 0;
