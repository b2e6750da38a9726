import { attachmentText, changeAttachment, changeText, textIn } from './attachments.ts'
import { mapJson } from './json-texts.ts'

/** Every text in a JSON value, names of fields included, in the order in which they stand. */
export function stringsIn(value: unknown): readonly string[] {
  const strings: string[] = []
  collect(value, strings)
  return strings
}

function collect(value: unknown, strings: string[]): void {
  if (typeof value === 'string') add(strings, textIn(value))
  else if (Array.isArray(value)) for (const one of value) collect(one, strings)
  else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      strings.push(name)
      collect(value[name], strings)
    }
  }
}

function add(strings: string[], text: string | undefined): void {
  if (text !== undefined) strings.push(text)
}

/** Fields of a whole request about whom it is for, not of what it says. Inside of other fields these names mean nothing. */
const identifying: ReadonlySet<string> = new Set(['user', 'safety_identifier', 'metadata', 'prompt_cache_key'])

/** Fields of a whole request that hold settings: a single word in them is one of a few that the vendor knows. */
const settings: ReadonlySet<string> = new Set([
  'model',
  'stream_options',
  'tool_choice',
  'stop',
  'stop_sequences',
  'reasoning',
  'reasoning_effort',
  'thinking',
  'output_config',
  'output_format',
  'response_format',
  'text',
  'modalities',
  'service_tier',
  'include',
  'truncation',
  'verbosity',
  'context_management',
  'container',
  'mcp_servers',
  'prompt_cache_retention',
  'previous_response_id',
])
const schemas = new Set(['schema', 'json_schema'])

/**
 * What a whole request says in its caller's own words, wherever it stands. Ids and the names of settings have no spaces,
 * and no letters but the plain ones.
 */
export function wordsIn(body: Fields): readonly string[] {
  const words: string[] = []
  for (const name of Object.keys(body))
    if (!identifying.has(name)) collectWords(name, body, { words, isTelling: !settings.has(name) })
  return words
}

type Collecting = { readonly words: string[]; readonly isTelling: boolean }

function collectWords(name: string, fields: Fields, collecting: Collecting): void {
  const value = fields[name]
  if (phrase.test(name)) collecting.words.push(name)
  if (schemas.has(name)) return collect(value, collecting.words)
  if (typeof value === 'string' && isFile(name, fields)) return add(collecting.words, attachmentText(value))
  if (typeof value === 'string' && addresses.has(name)) return add(collecting.words, textOfAddress(value))
  collectFrom(value, collecting, collecting.isTelling && !isShape(name, fields))
}

function collectFrom(value: unknown, collecting: Collecting, isSaid: boolean): void {
  if (typeof value === 'string') {
    const text = textIn(value)
    if (text !== undefined && (isSaid || phrase.test(text))) collecting.words.push(text)
  } else if (Array.isArray(value)) for (const one of value) collectFrom(one, collecting, isSaid)
  else if (isObject(value)) for (const name of Object.keys(value)) collectWords(name, value, collecting)
}

/** Where the formats of the vendors have files. */
const isFile = (name: string, { type }: Fields): boolean =>
  name === 'file_data' || (name === 'data' && type === 'base64')

/** The same for files that stand elsewhere; such an address may also hold all of the file. */
const addresses: ReadonlySet<string> = new Set(['url', 'file_url', 'image_url'])

/** What stands in the place of an address; undefined where it is one. */
export const textOfAddress = (address: string): string | undefined =>
  isAddress.test(address) ? undefined : textIn(address)
const isAddress = /^(?:https?|s3|gs|file):\/\/[\x21-\x7e]+$/

const phrase = /\S\s+\S|[\u0080-\uffff]/

/** Those who take part in a chat are told apart by their names. */
const isShape = (name: string, fields: Fields): boolean =>
  name.endsWith('_id') || (structural.has(name) && !(name === 'name' && 'role' in fields))

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

/** Fields of a whole request whose texts are changed by nobody: its shape, whom it is for, and its tools. */
const kept = new Set([
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
  if (typeof value === 'string') return changeText(value, change)
  if (Array.isArray(value)) return value.map((one) => mapStrings(one, change))
  if (!isObject(value)) return value
  // Thinking is signed: changed, its upstream would refuse it.
  if (value['type'] === 'thinking' || value['type'] === 'redacted_thinking') return value
  return mapFields(value, (name, one) => {
    if (name === 'arguments' && typeof one === 'string') return mapJson(one, change)
    if (name === 'input' && value['type'] === 'tool_use') return mapEveryString(one, change)
    if (typeof one === 'string' && isFile(name, value)) return changeAttachment(one, change)
    if (typeof one === 'string' && addresses.has(name) && isAddress.test(one)) return one
    return structural.has(name) ? one : mapStrings(one, change)
  })
}

/** What a model tells a tool has fields of any name, and none of them is ours. */
function mapEveryString(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return changeText(value, change)
  if (Array.isArray(value)) return value.map((one) => mapEveryString(one, change))
  return isObject(value) ? mapFields(value, (_, one) => mapEveryString(one, change)) : value
}

type Fields = Readonly<Record<string, unknown>>

const mapFields = (value: Fields, map: (name: string, one: unknown) => unknown): Fields =>
  Object.fromEntries(Object.entries(value).map(([name, one]) => [name, map(name, one)]))

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null
