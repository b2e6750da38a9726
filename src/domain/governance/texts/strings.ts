import { changeAttached } from './attached.ts'
import { mapJson } from './json-texts.ts'

/** Fields that hold no words: pictures, sounds, signatures, ciphers. */
const wordless = new Set([
  'data',
  'signature',
  'encrypted_content',
  'encrypted_index',
  'image_url',
  'file_data',
  'partial_image_b64',
])

/** A document that is a text stands in `data`, where others have their bytes. */
const isWordless = (name: string, { type }: Fields): boolean =>
  wordless.has(name) && !(name === 'data' && type === 'text')

/** Every string in a JSON value, names of fields included, in the order in which they stand. */
export function stringsIn(value: unknown): readonly string[] {
  const strings: string[] = []
  collect(value, strings)
  return strings
}

function collect(value: unknown, strings: string[]): void {
  if (typeof value === 'string') strings.push(value)
  else if (Array.isArray(value)) for (const one of value) collect(one, strings)
  else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      if (isWordless(name, value)) continue
      strings.push(name)
      collect(value[name], strings)
    }
  }
}

/** Fields about whom a request is for, not of what it says. */
const identifying = ['user', 'safety_identifier', 'metadata', 'prompt_cache_key'] as const
const speechless = new Set([...identifying, 'url', 'file_url'])

/** Fields of a request in which a single word is something said; elsewhere it is a setting. */
const telling = new Set(['messages', 'input', 'system', 'prediction'])
const schemas = new Set(['schema', 'json_schema'])

/**
 * What a whole request says in its caller's own words, wherever it stands. Ids and the names of settings have no spaces,
 * and no letters but the plain ones.
 */
export function wordsIn(body: Fields): readonly string[] {
  const words: string[] = []
  for (const name of Object.keys(body)) collectWords(name, body, { words, isTelling: telling.has(name) })
  return words
}

type Collecting = { readonly words: string[]; readonly isTelling: boolean }

function collectWords(name: string, fields: Fields, collecting: Collecting): void {
  if (speechless.has(name) || isWordless(name, fields)) return
  const value = fields[name]
  if (schemas.has(name)) return collect(value, collecting.words)
  collectFrom(value, collecting, collecting.isTelling && !isShape(name, fields))
}

function collectFrom(value: unknown, collecting: Collecting, isSaid: boolean): void {
  if (typeof value === 'string') {
    if (isSaid || phrase.test(value)) collecting.words.push(value)
  } else if (Array.isArray(value)) for (const one of value) collectFrom(one, collecting, isSaid)
  else if (isObject(value)) for (const name of Object.keys(value)) collectWords(name, value, collecting)
}

const phrase = /\S\s+\S|[\u0080-\uffff]/

/** Those who take part in a chat are told apart by their names. */
const isShape = (name: string, fields: Fields): boolean =>
  name.endsWith('_id') || (isStructural(name, fields) && !(name === 'name' && 'role' in fields))

/** Fields that structure a request: a change of what they hold would make another request of it. */
const structural = new Set([
  'type',
  'role',
  'id',
  'call_id',
  'tool_use_id',
  'tool_call_id',
  'item_id',
  'file_id',
  'name',
  'model',
  'media_type',
  'format',
  'url',
  'status',
  'phase',
  'detail',
  'cache_control',
])

const isStructural = (name: string, fields: Fields): boolean => structural.has(name) || isWordless(name, fields)

/** Fields of a whole request whose texts are changed by nobody: its shape, whom it is for, and its tools. */
const kept = new Set([
  ...wordless,
  ...structural,
  ...identifying,
  'tools',
  'tool_choice',
  'stop',
  'response_format',
  'output_config',
  'text',
])

/** The same for a whole request in its caller's own words, fields that we do not know included. */
export const mapRequest = (body: Fields, change: (text: string) => string): Fields =>
  mapFields(body, (name, one) => (kept.has(name) ? one : mapStrings(one, change)))

/** The same JSON value with every text in it changed; names, ids and whatever else gives it its shape stay. */
export function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((one) => mapStrings(one, change))
  if (!isObject(value)) return value
  // Thinking is signed: changed, its upstream would refuse it.
  if (value['type'] === 'thinking' || value['type'] === 'redacted_thinking') return value
  return mapFields(value, (name, one) => {
    if (name === 'arguments' && typeof one === 'string') return mapJson(one, change)
    if (name === 'input' && value['type'] === 'tool_use') return mapEveryString(one, change)
    if (isFile(name, value) && typeof one === 'string') return changeAttached(one, change)
    return isStructural(name, value) ? one : mapStrings(one, change)
  })
}

const isFile = (name: string, fields: Fields): boolean =>
  name === 'file_data' || (name === 'data' && isWordless(name, fields))

/** What a model tells a tool has fields of any name, and none of them is ours. */
function mapEveryString(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((one) => mapEveryString(one, change))
  return isObject(value) ? mapFields(value, (_, one) => mapEveryString(one, change)) : value
}

type Fields = Readonly<Record<string, unknown>>

const mapFields = (value: Fields, map: (name: string, one: unknown) => unknown): Fields =>
  Object.fromEntries(Object.entries(value).map(([name, one]) => [name, map(name, one)]))

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null
