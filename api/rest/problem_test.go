package rest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/catalog"
)

// TestAsProblem is the table from errors to statuses.
func TestAsProblem(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err    error
		status int
		detail string
	}{
		{fmt.Errorf("store: unit 7: %w", catalog.ErrNotFound), 404, "Not found."},
		{fmt.Errorf("store: %w", catalog.ErrInvalid), 400, "Invalid request."},
		{fmt.Errorf("x: %w", errInvalidPage), 404, "Invalid page."},
		{fmt.Errorf("x: %w", context.Canceled), 503, errCancelled.Detail},
		{context.DeadlineExceeded, 503, errCancelled.Detail},
		{echo.ErrRequestTimeout, 408, "Request Timeout."},
		{echo.ErrBadGateway, 500, "Internal server error."},
		{errors.New("SQL logic error: SELECT * FROM units"), 500, "Internal server error."},
		{fmt.Errorf("x: %w", catalog.ErrConflict), 500, "Internal server error."},
	} {
		if p := AsProblem(tc.err); p.Status != tc.status || p.Detail != tc.detail {
			t.Errorf("%v: %d %s", tc.err, p.Status, p.Detail)
		}
	}
}
