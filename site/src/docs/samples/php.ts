// Samples for PHP 8, without extensions.

import { POSITION_FILE, printParameters, type SampleLanguage, type SampleRequest } from './sample-code.ts';

export const php: SampleLanguage = {
  lang: 'PHP',
  label: 'PHP',
  list: (request) => `${head(request)}
$query = [${printParameters(request, (name, value) => `'${name}' => '${value}'`)}];
do {
    $url = '${request.baseUrl}${request.path}?' . http_build_query($query);
    $page = json_decode(file_get_contents($url, false, $context), true, 512, JSON_THROW_ON_ERROR);
    foreach ($page['data'] as $${request.itemName}) {
        echo ${fields(request)}, "\\n";
    }
    $query['cursor'] = $page['cursor'] ?? null;
} while ($query['cursor'] !== null);`,
  poll: (request) => `${head(request)}
$kept = '${POSITION_FILE}';
// The first run has no file and fetches all transactions.
$query = is_file($kept) ? ['updatedAtGreaterThan' => file_get_contents($kept)] : [];
$throughs = [];
do {
    $url = '${request.baseUrl}${request.path}?' . http_build_query($query);
    $answer = fopen($url, 'r', false, $context) ?: exit(1);
    $page = json_decode(stream_get_contents($answer), true, 512, JSON_THROW_ON_ERROR);
    foreach (stream_get_meta_data($answer)['wrapper_data'] as $header) {
        if (preg_match('/^Complete-Through: (.+)$/i', $header, $match)) {
            $throughs[] = trim($match[1]);
        }
    }
    foreach ($page['data'] as $${request.itemName}) {
        echo ${fields(request)}, "\\n"; // store it under its id
    }
    $query['cursor'] = $page['cursor'] ?? null;
} while ($query['cursor'] !== null);
// Save the position last, once everything before it has been stored.
file_put_contents($kept, min($throughs));`,
};

function head({ tokenVariable }: SampleRequest): string {
  return `<?php
$context = stream_context_create(['http' => [
    'header' => 'Authorization: Bearer ' . getenv('${tokenVariable}'),
]]);`;
}

function fields({ itemName, printedFields }: SampleRequest): string {
  return printedFields.map((field) => `$${itemName}['${field}']`).join(", ' ', ");
}
