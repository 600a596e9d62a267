package resource

import (
	"slices"
	"strconv"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// changeQuery reads the parameters of change lists: Weblate's action, user,
// timestamp_after and timestamp_before, and ours, ordering and after_id. Like
// Django REST framework it reports all wrong parameters at once, before the
// page is looked at.
func changeQuery(r *rest.Request, q store.ChangeQuery) (store.ChangeQuery, error) {
	errs := rest.FieldErrors{}
	q.Actions = actionsOf(r, errs)
	q.User, _ = r.Params.Get("user")
	q.From = r.Timestamp("timestamp_after", errs)
	q.To = r.Timestamp("timestamp_before", errs)
	q.Newest = newestFirst(r, errs)
	q.AfterID = afterID(r, errs)
	return q, errs.Err()
}

// actionsOf returns the values of the parameter action. Each has to be a known
// number; no value means no filter.
func actionsOf(r *rest.Request, errs rest.FieldErrors) []catalog.Action {
	var actions []catalog.Action
	for _, p := range r.Params {
		if p.Name != "action" {
			continue
		}
		n, err := strconv.ParseInt(p.Value, 10, 16)
		action := catalog.Action(n)
		if err != nil || !action.Known() || strconv.Itoa(int(action)) != p.Value {
			errs.Add("action", "Select a valid choice. "+p.Value+" is not one of the available choices.")
			return nil
		}
		if !slices.Contains(actions, action) {
			actions = append(actions, action)
		}
	}
	return actions
}

func newestFirst(r *rest.Request, errs rest.FieldErrors) bool {
	switch ordering, _ := r.Params.Get("ordering"); ordering {
	case "", "id":
	case "-id":
		return true
	default:
		errs.Add("ordering", "Select a valid choice: id or -id.")
	}
	return false
}

func afterID(r *rest.Request, errs rest.FieldErrors) int64 {
	after, given := r.Params.Get("after_id")
	if !given {
		return 0
	}
	id, err := strconv.ParseInt(after, 10, 64)
	if err != nil {
		errs.Add("after_id", "A valid integer is required.")
	}
	return max(id, 0)
}
