package wire

// SiteTitle is the name of the service.
const SiteTitle = "repoglot"
