// Package rest holds what the handlers of the API have in common: the request
// they answer (Request, Params, paging), what it may see (Access), the errors
// that clients are told of (Problem), and the kinds of answers beside JSON
// objects (Array, Document, Download, ChangeStream, Redirect).
//
// Goals: a handler needs a context, a snapshot of the store and a Request, and
// nothing of the server that runs it. Non-goals: resources, see api/resource;
// caching, encodings and sending, see api.
package rest
