import type { FieldRoles, RawObject } from '../../inference/field-roles.ts'
import { attachmentText, changeAttachment, changeText, textOfField } from './attachments.ts'
import { mapJson } from './json-texts.ts'

/** Every text in a JSON value, names of fields included, in document order. */
export function stringsIn(value: unknown): readonly string[] {
  const strings: string[] = []
  collect(value, strings)
  return strings
}

function collect(value: unknown, strings: string[]): void {
  if (typeof value === 'string') add(strings, textOfField(value))
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

/**
 * The texts of a raw request body, unknown fields included. Ids and the names of settings are left out: they have no spaces
 * and no letters outside of ASCII.
 */
export function wordsIn(body: RawObject, roles: FieldRoles): readonly string[] {
  const words: string[] = []
  for (const name of Object.keys(body))
    if (!roles.identifying.has(name)) collectWords(name, body, { words, roles, isContent: !roles.settings.has(name) })
  return words
}

type Collecting = { readonly words: string[]; readonly roles: FieldRoles; readonly isContent: boolean }

function collectWords(name: string, object: RawObject, collecting: Collecting): void {
  const { words, roles, isContent } = collecting
  const value = object[name]
  if (phrase.test(name)) words.push(name)
  if (roles.schemas.has(name)) return collect(value, words)
  if (typeof value === 'string' && roles.isFile(name, object)) return add(words, attachmentText(value))
  if (typeof value === 'string' && roles.addresses.has(name)) return add(words, textOfAddress(value))
  collectFrom(value, collecting, isContent && !roles.isLabel(name, object))
}

function collectFrom(value: unknown, collecting: Collecting, isText: boolean): void {
  if (typeof value === 'string') {
    const text = textOfField(value)
    if (text !== undefined && (isText || phrase.test(text))) collecting.words.push(text)
  } else if (Array.isArray(value)) for (const one of value) collectFrom(one, collecting, isText)
  else if (isObject(value)) for (const name of Object.keys(value)) collectWords(name, value, collecting)
}

/** The text of a URL field that holds something else; undefined if it holds a URL. */
export const textOfAddress = (address: string): string | undefined =>
  isAddress.test(address) ? undefined : textOfField(address)
const isAddress = /^(?:https?|s3|gs|file):\/\/[\x21-\x7e]+$/

const phrase = /\S\s+\S|[\u0080-\uffff]/

/** The raw request body with its texts changed, those in unknown fields included. */
export const mapRequest = (body: RawObject, change: (text: string) => string, roles: FieldRoles): RawObject =>
  mapFields(body, (name, one) => (roles.unchanged.has(name) ? one : mapStrings(one, change, roles)))

/** The same JSON value with every text in it changed. Names, ids and other fields that structure it stay. */
export function mapStrings(value: unknown, change: (text: string) => string, roles: FieldRoles): unknown {
  if (typeof value === 'string') return changeText(value, change)
  if (Array.isArray(value)) return value.map((one) => mapStrings(one, change, roles))
  if (!isObject(value)) return value
  if (roles.isSigned(value)) return value
  return mapFields(value, (name, one) => {
    if (typeof one === 'string' && roles.isJson(name)) return mapJson(one, change)
    if (roles.isToolInput(name, value)) return mapEveryString(one, change)
    if (typeof one === 'string' && roles.isFile(name, value)) return changeAttachment(one, change)
    if (typeof one === 'string' && roles.addresses.has(name) && isAddress.test(one)) return one
    return roles.structural.has(name) ? one : mapStrings(one, change, roles)
  })
}

/** The input of a tool has fields of any name, so no name has a role. */
function mapEveryString(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return changeText(value, change)
  if (Array.isArray(value)) return value.map((one) => mapEveryString(one, change))
  return isObject(value) ? mapFields(value, (_, one) => mapEveryString(one, change)) : value
}

const mapFields = (value: RawObject, map: (name: string, one: unknown) => unknown): RawObject =>
  Object.fromEntries(Object.entries(value).map(([name, one]) => [name, map(name, one)]))

const isObject = (value: unknown): value is RawObject => typeof value === 'object' && value !== null
