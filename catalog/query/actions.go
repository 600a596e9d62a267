package query

import (
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// actionNames are the actions of Weblate (docs/compatibility.md#change-entries):
// the number, then its names in lower case with dashes, the oldest first.
const actionNames = `
0 resource-update resource-updated
1 translation-completed
2 translation-changed
3 comment-added
4 suggestion-added
5 new-translation translation-added
6 automatic-translation automatically-translated
7 suggestion-accepted
8 translation-reverted
9 translation-uploaded
13 new-source-string source-string-added
14 component-locked
15 component-unlocked
17 committed-changes changes-committed
18 pushed-changes changes-pushed
19 reset-repository repository-reset
20 merged-repository repository-merged
21 rebased-repository repository-rebased
22 failed-merge-on-repository repository-merge-failed
23 failed-rebase-on-repository repository-rebase-failed
24 parse-error parsing-failed
25 removed-translation translation-removed
26 suggestion-removed
27 search-and-replace translation-replaced
28 failed-push-on-repository repository-push-failed
29 suggestion-removed-during-cleanup
30 source-string-changed
31 new-string-added string-added
32 bulk-status-change bulk-status-changed
33 changed-visibility visibility-changed
34 added-user user-added
35 removed-user user-removed
36 translation-approved
37 marked-for-edit
38 removed-component component-removed
39 removed-project project-removed
41 renamed-project project-renamed
42 renamed-component component-renamed
43 moved-component
44 new-string-to-translate
45 new-contributor contributor-joined
46 new-announcement announcement-posted
47 new-alert alert-triggered
48 added-new-language language-added
49 requested-new-language language-requested
50 created-project project-created
51 created-component component-created
52 invited-user user-invited
53 received-repository-notification repository-notification-received
54 replaced-file-by-upload translation-replaced-file-by-upload
55 license-changed
56 contributor-agreement-changed contributor-license-agreement-changed
57 screnshot-added screenshot-added
58 screnshot-uploaded screenshot-uploaded
59 string-updated-in-the-repository
60 add-on-installed
61 add-on-configuration-changed
62 add-on-uninstalled
63 removed-string string-removed
64 removed-comment comment-removed
65 resolved-comment comment-resolved
66 explanation-updated
67 category-removed
68 category-renamed
69 category-moved
70 saving-string-failed
71 string-added-in-the-repository
72 string-updated-in-the-upload
73 string-added-in-the-upload
74 translation-updated-by-source-upload
75 component-translation-completed
76 applied-enforced-check
77 propagated-change
78 file-uploaded
79 extra-flags-updated
80 font-uploaded
81 font-changed
82 font-removed
83 forced-synchronization-of-translations
84 forced-rescan-of-translations
85 screenshot-removed
86 label-added
87 label-removed
88 repository-cleanup
89 source-string-added-in-the-upload
90 source-string-added-in-the-repository
91 project-backed-up
92 project-restored
93 component-restored
94 user-edit-reverted
95 project-setting-changed
96 component-setting-changed
97 user-access-changed
98 workspace-created
99 workspace-setting-changed
100 project-moved
101 remote-repository-updated
102 remote-repository-update-failed
103 alert-dismissed
104 alert-reopened
`

// newUnitRepo is the action that newer versions of Weblate use for ActionNewUnit.
const newUnitRepo = 71

// actionOf finds an action by its number, its name or its dashed name.
func actionOf(name string) (catalog.Action, bool) {
	if n, err := strconv.ParseInt(name, 10, 16); err == nil {
		return catalog.Action(n), catalog.Action(n).Known()
	}
	dashed := strings.ReplaceAll(strings.ToLower(name), " ", "-")
	for line := range strings.Lines(actionNames) {
		number, names, _ := strings.Cut(strings.TrimSpace(line), " ")
		for known := range strings.FieldsSeq(names) {
			if known != dashed {
				continue
			}
			n, err := strconv.ParseInt(number, 10, 16)
			if n == newUnitRepo {
				n = int64(catalog.ActionNewUnit)
			}
			return catalog.Action(n), err == nil
		}
	}
	return 0, false
}
