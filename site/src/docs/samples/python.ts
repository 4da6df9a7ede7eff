// Samples for Python, using only the standard library.

import { POSITION_FILE, printFields, printParameters, type SampleLanguage } from './sample-code.ts';

export const python: SampleLanguage = {
  lang: 'Python',
  label: 'Python',
  list: (request) => `import json
import os
from urllib.parse import urlencode
from urllib.request import Request, urlopen

headers = {'Authorization': 'Bearer ' + os.environ['${request.tokenVariable}']}
query = {${printParameters(request, (name, value) => `'${name}': '${value}'`)}}
while True:
    url = '${request.baseUrl}${request.path}?' + urlencode(query)
    with urlopen(Request(url, headers=headers)) as response:
        page = json.load(response)
    for ${request.itemName} in page['data']:
        print(${printFields(request, "['", "']")})
    if 'cursor' not in page:
        break
    query['cursor'] = page['cursor']`,
  poll: (request) => `import json
import os
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request, urlopen

headers = {'Authorization': 'Bearer ' + os.environ['${request.tokenVariable}']}
kept = Path('${POSITION_FILE}')
# The first run has no file and fetches all transactions.
query = {'updatedAtGreaterThan': kept.read_text()} if kept.exists() else {}
throughs = []
while True:
    url = '${request.baseUrl}${request.path}?' + urlencode(query)
    with urlopen(Request(url, headers=headers)) as response:
        page = json.load(response)
        throughs.append(response.headers['Complete-Through'])
    for ${request.itemName} in page['data']:
        print(${printFields(request, "['", "']")})  # store it under its id
    if 'cursor' not in page:
        break
    query['cursor'] = page['cursor']
# Save the position last, once everything before it has been stored.
kept.write_text(min(throughs))`,
};
