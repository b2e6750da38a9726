import type { Completion } from '@codemirror/autocomplete'

/** The names of the rule language. The guide of rules lists the same. */
export const variables = [
  { label: 'text', type: 'variable', detail: 'the scanned text' },
  { label: 'direction', type: 'variable', detail: '"request" or "response"' },
  { label: 'model', type: 'variable', detail: 'the requested model' },
  { label: 'project', type: 'variable', detail: 'the project of the caller' },
  { label: 'user', type: 'variable', detail: 'the end user, or empty' },
  { label: 'metadata', type: 'variable', detail: 'map of the request' },
  { label: 'categories', type: 'variable', detail: 'scores from 0 to 1' },
  { label: 'pii', type: 'variable', detail: 'counts of personal data' },
  { label: 'prompt_injection', type: 'variable', detail: 'scores from 0 to 1, by place' },
] as const satisfies readonly Completion[]

export const functions = [
  { label: 'has', type: 'function', detail: 'whether a key is there' },
  { label: 'size', type: 'function' },
  { label: 'int', type: 'function' },
  { label: 'double', type: 'function' },
  { label: 'string', type: 'function' },
  { label: 'bool', type: 'function' },
  { label: 'cel.bind', type: 'function', detail: 'a name for a value' },
] as const satisfies readonly Completion[]

export const methods = [
  'contains',
  'startsWith',
  'endsWith',
  'matches',
  'lowerAscii',
  'upperAscii',
  'trim',
  'indexOf',
  'lastIndexOf',
  'substring',
  'size',
  'all',
  'exists',
  'exists_one',
  'map',
  'filter',
].map((label): Completion => ({ label, type: 'method' }))

export const keysOf: Readonly<Record<string, readonly string[]>> = {
  prompt_injection: ['tool_results', 'documents', 'user_text'],
  categories: ['self-harm', 'sexual/minors', 'harassment', 'hate', 'illicit', 'sexual'],
  pii: [
    'email',
    'phone',
    'card',
    'iban',
    'national_id',
    'ip_address',
    'mac_address',
    'secret',
    'date_of_birth',
    'name',
  ],
}
