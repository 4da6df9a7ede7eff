// Samples for Go, using only the standard library.

import {
  POSITION_FILE,
  printFields,
  printParameters,
  type SampleLanguage,
  type SampleRequest,
} from './sample-code.ts';

export const go: SampleLanguage = {
  lang: 'Go',
  label: 'Go',
  list: (request) => `${HEAD}
	query := url.Values{${printParameters(request, (name, value) => `"${name}": {"${value}"}`)}}
	for {
${ask(request)}
		for _, ${request.itemName} := range page.Data {
			fmt.Println(${printFields(request, '["', '"]')})
		}
${NEXT}
}`,
  poll: (request) => `${HEAD}
	query := url.Values{}
	// The first run has no file and fetches all transactions.
	if kept, err := os.ReadFile("${POSITION_FILE}"); err == nil {
		query.Set("updatedAtGreaterThan", string(kept))
	}
	complete := ""
	for {
${ask(request)}
		for _, ${request.itemName} := range page.Data {
			fmt.Println(${printFields(request, '["', '"]')}) // store it under its id
		}
		through := response.Header.Get("Complete-Through")
		if complete == "" || through < complete {
			complete = through
		}
${NEXT}
	// Save the position last, once everything before it has been stored.
	if err := os.WriteFile("${POSITION_FILE}", []byte(complete), 0o600); err != nil {
		log.Fatal(err)
	}
}`,
};

const HEAD = `package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
)

func main() {`;

const NEXT = `		if page.Cursor == "" {
			break
		}
		query.Set("cursor", page.Cursor)
	}`;

function ask({ baseUrl, path, tokenVariable }: SampleRequest): string {
  return `		request, err := http.NewRequest("GET", "${baseUrl}${path}?"+query.Encode(), nil)
		if err != nil {
			log.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("${tokenVariable}"))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		var page struct {
			Data   []map[string]any
			Cursor string
		}
		err = json.NewDecoder(response.Body).Decode(&page)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			log.Fatal(response.Status, err)
		}`;
}
