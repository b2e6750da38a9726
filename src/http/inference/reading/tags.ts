import type { IncomingHttpHeaders } from 'node:http'
import Type from 'typebox'
import { Fault } from '../../../base/fault.ts'
import { isRecord } from '../../../base/record.ts'
import type { LimitTagValues } from '../../../domain/costs/tag-values.ts'
import { textOfTags, type Tags } from '../../../domain/costs/tags.ts'
import type { Caller } from '../../../domain/identity/principal.ts'
import { invalidField } from '../../validate.ts'

const header = 'X-Policy-Tags'
const maxHeaderLength = 2000
const maxValueLength = 64
/** A row of the index of the sums has at most 2,704 bytes on PostgreSQL. Names of the key, the model and the end user take up to 1,800 of them. */
const maxBytes = 650

export const tagsHeader = {
  [header]: Type.Optional(
    Type.String({
      maxLength: maxHeaderLength,
      description:
        'Tags for costs and budgets: `team=red, env=prod`. Only names of the setting `budgets.tags` are read. A tag here wins over the same name in `metadata`.',
      examples: ['team=red, env=prod'],
    }),
  ),
}

type Labelled = { readonly headers: IncomingHttpHeaders; readonly body: unknown; readonly caller: Caller }

/** The tags of a request; undefined if it has none. */
export type ReadTags = (request: Labelled) => Tags | undefined

/** Undefined if no tags are configured. */
export function createReadTags(names: readonly string[], limitValues: LimitTagValues): ReadTags | undefined {
  if (names.length === 0) return undefined
  const sorted = names.toSorted()
  return ({ headers, body, caller }) => {
    if (caller.kind === 'free') return undefined
    const given = headers[header.toLowerCase()]
    const inHeader = given === undefined ? noValues : valuesIn(String(given), sorted)
    const metadata = isRecord(body) && isRecord(body['metadata']) ? body['metadata'] : {}
    const tags: Record<string, string> = {}
    for (const name of sorted) {
      const value = inHeader.get(name) ?? valueIn(metadata, name)
      if (value !== undefined && value !== '') tags[name] = value
    }
    if (Object.keys(tags).length === 0) return undefined
    requireShort(tags, inHeader.size === 0 ? 'metadata' : header)
    return limitValues(caller.organization.id, tags)
  }
}

const noValues: ReadonlyMap<string, string> = new Map()

function valuesIn(text: string, names: readonly string[]): ReadonlyMap<string, string> {
  if (text.length > maxHeaderLength) throw invalidHeader(`must have at most ${maxHeaderLength} characters.`)
  const values = new Map<string, string>()
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue
    const [name = '', ...rest] = pair.split('=')
    const [tag, value] = [name.trim(), rest.join('=').trim()]
    if (tag === '' || value === '') throw invalidHeader('must be tags such as team=red, separated by commas.')
    if (!names.includes(tag)) continue
    if (values.has(tag)) throw invalidHeader(`has the tag ${tag} twice.`)
    if (value.length > maxValueLength)
      throw invalidHeader(`the value of the tag ${tag} must have at most ${maxValueLength} characters.`)
    values.set(tag, value)
  }
  return values
}

const invalidHeader = (message: string): Fault =>
  new Fault('malformed', 'invalid_header', `${header}: ${message}`, { param: header })

function valueIn(metadata: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = metadata[name]
  if (typeof value !== 'string') return undefined
  const trimmed = value.trim()
  if (trimmed.length > maxValueLength)
    throw invalidField(['metadata', name], `must have at most ${maxValueLength} characters, because it is a tag`)
  return trimmed
}

/** Only many long values reach this. */
function requireShort(tags: Tags, param: string): void {
  if (Buffer.byteLength(textOfTags(tags)) <= maxBytes) return
  const message = `${param}: the tags of a request must have at most ${maxBytes} bytes of UTF-8 together.`
  throw new Fault('validation', 'invalid_parameter', message, { param })
}
