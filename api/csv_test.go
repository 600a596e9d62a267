package api

import "testing"

// TestListsWithoutFormulas: no cell of a list as CSV is computed by a spreadsheet;
// numbers stay as they are.
func TestListsWithoutFormulas(t *testing.T) {
	t.Parallel()
	got, err := renderCSV([]map[string]any{{"source": "=HYPERLINK(1)", "state": -1, "target": []string{"-", "+1", "a=b", "%d", "-1+cmd|x", "- item"}}})
	const want = "source,state,target.0,target.1,target.2,target.3,target.4,target.5\n'=HYPERLINK(1)',-1,-,'+1',a=b,%d,'-1+cmd|x',- item\n"
	if err != nil || string(got) != want {
		t.Errorf("%v: %q, want %q", err, got, want)
	}
}
