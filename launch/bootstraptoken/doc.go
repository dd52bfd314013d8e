// Package bootstraptoken decides which bootstrap token a new node joins with. A [Keeper] takes a token that the cluster has, or
// creates one, by the cluster's [Store] and a [Policy]. The token goes into the user data of a launch (launch.Launch.UserData).
//
// The package reads no clock. Callers give it the API server's time, because the API server decides when a token expires.
package bootstraptoken
