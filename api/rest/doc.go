// Package rest holds what the handlers of the API share: the request that they
// answer (Request, Params, paging), what it may see (Access), the errors that
// clients see (Problem), and the kinds of answers that are not JSON objects
// (Array, Document, Download, ChangeStream, Redirect).
//
// Goals: a handler needs a context, a snapshot of the store and a Request, and nothing of the
// server around. Non-goals: resources, see api/resource; caching, encodings, sending, see api.
package rest
