// Package sample has the commands forecast and feed of graphmill.
package sample
