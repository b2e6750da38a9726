import type { TSchema } from 'typebox'
import { escapeHtml } from '../../src/base/escape-html.ts'
import { inline } from './html.ts'

/** The JSON Schema keywords that the reference shows. */
export type SchemaNode = {
  readonly type?: string
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly $ref?: string
  readonly anyOf?: readonly SchemaNode[]
  readonly oneOf?: readonly SchemaNode[]
  readonly allOf?: readonly SchemaNode[]
  readonly items?: SchemaNode
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly additionalProperties?: boolean | SchemaNode
  readonly required?: readonly string[]
  readonly not?: SchemaNode
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}

/** Where fields are shown: a request must have its required fields; an answer may lack its optional ones. */
export type FieldsOf = { readonly id: string; readonly in: 'request' | 'answer' }

/** Deeper fields are left out, because a schema may contain itself. */
const maxDepth = 7

/** The fields of an object as nested lists; empty if the schema has none. */
export function fieldList(schema: TSchema | undefined, where: FieldsOf): string {
  return schema === undefined ? '' : alternatives(objectsIn(schema), where, maxDepth)
}

/** A field for the search index: its path, and the end of its id on the page. */
export type IndexedField = { readonly path: string; readonly id: string; readonly description: string }

/** The fields of a schema and of the objects in it. */
export const fieldsIn = (schema: TSchema | undefined): readonly IndexedField[] =>
  schema === undefined ? [] : walk(schema, { path: '', id: '' }, indexedDepth)

const indexedDepth = 2

function walk(node: SchemaNode, prefix: { path: string; id: string }, depth: number): IndexedField[] {
  if (depth === 0) return []
  const { shared, own: objects } = splitShared(objectsIn(node))
  return [shared, ...objects].flatMap((object, index) => {
    const number = index === 0 ? '' : `${index}.`
    return Object.entries(propertiesOf(object)).flatMap(([name, field]) => {
      const own = { path: prefix.path + name, id: `${prefix.id}${number}${name}` }
      const inner = { path: `${own.path}.`, id: `${own.id}.` }
      return [{ ...own, description: descriptionOf(field) }, ...walk(field, inner, depth - 1)]
    })
  })
}

/** The fields that all alternatives have in common, and the alternatives without them. A single object has common fields only. */
function splitShared(objects: readonly SchemaNode[]): { shared: SchemaNode; own: readonly SchemaNode[] } {
  const [first = {}, ...others] = objects
  if (others.length === 0) return { shared: first, own: [] }
  const formOf = (object: SchemaNode, name: string): string =>
    JSON.stringify([propertiesOf(object)[name], requiredIn(object).has(name)])
  const isShared = (name: string): boolean =>
    propertiesOf(first)[name]?.const === undefined &&
    objects.every((each) => formOf(each, name) === formOf(first, name))
  const own = objects.map((object) => withFields(object, (name) => !isShared(name)))
  if (own.some((object) => propertiesCount(object) === 0)) return { shared: {}, own: objects }
  return { shared: withFields(first, isShared), own }
}

function withFields(object: SchemaNode, isKept: (name: string) => boolean): SchemaNode {
  const { allOf: _merged, ...rest } = object
  const kept = Object.entries(propertiesOf(object)).filter(([name]) => isKept(name))
  return { ...rest, properties: Object.fromEntries(kept), required: [...requiredIn(object)] }
}

function alternatives(objects: readonly SchemaNode[], where: FieldsOf, depth: number): string {
  const { shared, own } = splitShared(objects)
  const common = list(shared, where, depth)
  if (own.length === 0) return common
  const shown = own.map((object, index) => {
    const inner = list(object, { ...where, id: `${where.id}.${index + 1}` }, depth)
    const about = object.description === undefined ? '' : `<p>${inline(object.description)}</p>`
    return `<details class="variant"><summary>${variantName(object, index)}</summary>${about}${inner}</details>`
  })
  return `${common}<p class="one-of">${common === '' ? 'One' : 'And one'} of ${own.length}:</p>${shown.join('')}`
}

function list(object: SchemaNode, where: FieldsOf, depth: number): string {
  if (depth === 0) return ''
  const required = requiredIn(object)
  const items = Object.entries(propertiesOf(object)).map(([name, field]) =>
    item({ name, field, isRequired: required.has(name) }, where, depth),
  )
  return items.length === 0 ? '' : `<ul class="fields">${items.join('')}</ul>`
}

type Field = { readonly name: string; readonly field: SchemaNode; readonly isRequired: boolean }

function item({ name, field, isRequired }: Field, where: FieldsOf, depth: number): string {
  const id = `${where.id}.${name}`
  const inner = alternatives(objectsIn(field), { ...where, id }, depth - 1)
  const bounds = boundsOf(field)
  const description = descriptionOf(field)
  return [
    `<li id="${escapeHtml(id)}"><div class="field"><code>${escapeHtml(name)}</code><span class="type">${escapeHtml(typeWords(field))}</span>`,
    presence({ isRequired, hasDefault: field.default !== undefined }, where),
    '</div>',
    bounds.length === 0 ? '' : `<div class="bounds">${bounds.map(inline).join(' · ')}</div>`,
    description === '' ? '' : `<p>${inline(description)}</p>`,
    choices(field),
    inner === ''
      ? ''
      : `<details class="inner"><summary>Fields of <code>${escapeHtml(name)}</code></summary>${inner}</details>`,
    '</li>',
  ].join('')
}

function presence(field: { isRequired: boolean; hasDefault: boolean }, where: FieldsOf): string {
  if (where.in === 'answer') return field.isRequired ? '' : '<span class="optional">optional</span>'
  return field.isRequired && !field.hasDefault ? '<span class="required">required</span>' : ''
}

function choices(field: SchemaNode): string {
  const values = [...new Set(enumIn(field))]
  if (values.length === 0) return ''
  return `<p class="choices">${values.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(' ')}</p>`
}

function enumIn(node: SchemaNode): readonly unknown[] {
  if (node.enum) return node.enum
  if (node.items) return enumIn(node.items)
  const parts = variantsOf(node)
  if (parts.length > 0 && parts.every((part) => part.const !== undefined)) return parts.map((part) => part.const)
  return parts.filter(({ type }) => type !== 'null').flatMap(enumIn)
}

/** The description of a field, or of the only value that it may have besides null. */
function descriptionOf(field: SchemaNode): string {
  if (field.description !== undefined) return field.description
  const [only, ...others] = variantsOf(field).filter(({ type }) => type !== 'null')
  return only !== undefined && others.length === 0 ? descriptionOf(only) : ''
}

/** The objects that a value may be or contain. */
function objectsIn(node: SchemaNode): readonly SchemaNode[] {
  const variants = variantsOf(node)
  if (variants.length > 0) return variants.flatMap(objectsIn)
  if (node.items) return objectsIn(node.items)
  const values = mapValuesOf(node)
  if (values !== undefined) return objectsIn(values)
  return Object.keys(propertiesOf(node)).length > 0 ? [node] : []
}

const variantsOf = (node: SchemaNode): readonly SchemaNode[] => node.anyOf ?? node.oneOf ?? []

function propertiesOf(node: SchemaNode): Readonly<Record<string, SchemaNode>> {
  return Object.assign({}, ...(node.allOf ?? []).map(propertiesOf), node.properties)
}

const requiredIn = (node: SchemaNode): Set<string> =>
  new Set([...(node.required ?? []), ...(node.allOf ?? []).flatMap((part) => [...requiredIn(part)])])

function mapValuesOf(node: SchemaNode): SchemaNode | undefined {
  if (node.properties && Object.keys(node.properties).length > 0) return undefined
  const [pattern] = Object.values(node.patternProperties ?? {})
  return pattern ?? (typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined)
}

/** The name of one alternative: its title, the value that selects it, or its number. */
function variantName(object: SchemaNode, index: number): string {
  const properties = Object.entries(propertiesOf(object))
  const [tag] = properties.filter(([, { const: value }]) => value !== undefined)
  if (tag !== undefined) return `<code>${escapeHtml(tag[0])}: ${escapeHtml(JSON.stringify(tag[1].const))}</code>`
  const [other] = properties.filter(([, { not }]) => not !== undefined)
  if (other !== undefined) return `any other <code>${escapeHtml(other[0])}</code>`
  return object.title === undefined ? `Form ${index + 1}` : escapeHtml(object.title)
}

/** `string`, `array of objects`, `string or null`. */
function typeWords(node: SchemaNode): string {
  if (node.$ref !== undefined) return node.$ref.split('/').at(-1) ?? 'object'
  if (node.const !== undefined) return JSON.stringify(node.const)
  const variants = variantsOf(node)
  if (variants.length > 0 && variants.every((variant) => variant.const !== undefined)) return 'string'
  if (variants.length > 0) return [...new Set(variants.map(typeWords))].join(' or ')
  if (node.enum) return typeof node.enum[0]
  if (node.type === 'array') return node.items ? `array of ${plural(typeWords(node.items))}` : 'array'
  const values = mapValuesOf(node)
  if (node.type === 'object' && values !== undefined) return `map of ${plural(typeWords(values))}`
  return node.type ?? (node.allOf ? 'object' : 'any value')
}

const plural = (words: string): string =>
  words
    .split(' or ')
    .map((word) => (/^(string|integer|number|boolean|object|array|any value)$/.test(word) ? `${word}s` : word))
    .join(' or ')

/** The limits and the default of a value: `1 to 80 characters`, `default 20`. */
function boundsOf(node: SchemaNode): string[] {
  const inner = [...variantsOf(node), ...(node.items ? [node.items] : [])]
  const own = [
    range(node.minimum, node.maximum, ''),
    range(node.minLength, node.maxLength, ' characters'),
    range(node.minItems, node.maxItems, ' items'),
    node.format === undefined ? '' : `format ${node.format}`,
  ]
  const defaults = node.default === undefined ? [] : [`default \`${JSON.stringify(node.default)}\``]
  const nested = inner.filter((each) => propertiesCount(each) === 0).flatMap(boundsOf)
  return [...new Set([...own.filter((words) => words !== ''), ...nested, ...defaults])]
}

const propertiesCount = (node: SchemaNode): number => Object.keys(propertiesOf(node)).length

function range(from: number | undefined, to: number | undefined, unit: string): string {
  if (from !== undefined && to !== undefined) return `${count(from)} to ${count(to)}${unit}`
  if (to !== undefined) return `up to ${count(to)}${unit}`
  return from === undefined || from === 0 ? '' : `at least ${count(from)}${from === 1 ? unit.slice(0, -1) : unit}`
}

const count = (value: number): string => value.toLocaleString('en')
