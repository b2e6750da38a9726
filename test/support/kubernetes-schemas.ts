import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Errors } from 'typebox/schema'
import { parse } from 'yaml'

/** An object of a cluster, as far as tests look into it. */
export type KubernetesObject = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

type Node = { readonly [keyword: string]: unknown }
type Kind = { readonly group: string; readonly version: string; readonly kind: string }
type CustomResource = {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Node } }[]
  }
}

const isRecord = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Definitions whose OpenAPI schema is narrower than what the API server accepts. */
const exceptions: Node = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['integer', 'string'] },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: ['number', 'string'] },
}

/**
 * Reads the schemas of a folder: `swagger.json` of Kubernetes, and definitions of custom resources. The returned function lists
 * what is wrong with an object. An unknown field is an error, as with `kubectl --validate=strict`.
 */
export function readKubernetesSchemas(folder: string): (object: KubernetesObject) => string[] {
  const { definitions } = JSON.parse(readFileSync(join(folder, 'swagger.json'), 'utf8')) as {
    definitions: Readonly<Record<string, Node>>
  }
  const strict = { ...mapValues(definitions, closed), ...exceptions }
  const schemas = new Map<string, Node>()
  for (const [name, definition] of Object.entries(definitions))
    for (const { group, version, kind } of (definition['x-kubernetes-group-version-kind'] ?? []) as readonly Kind[])
      schemas.set(keyOf(group, version, kind), { $ref: `#/definitions/${name}`, definitions: strict })
  for (const file of globSync(join(folder, '*.yaml'))) {
    const { spec } = parse(readFileSync(file, 'utf8')) as CustomResource
    const metadata = { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }
    for (const { name, schema } of spec.versions) {
      const properties = { ...(schema.openAPIV3Schema['properties'] as Node), metadata }
      const whole = { ...closed({ ...schema.openAPIV3Schema, properties }), definitions: strict }
      schemas.set(keyOf(spec.group, name, spec.names.kind), whole)
    }
  }
  return (object) => problemsOf(schemas, object)
}

const keyOf = (group: string, version: string, kind: string): string =>
  `${group === '' ? '' : `${group}/`}${version} ${kind}`

function problemsOf(schemas: ReadonlyMap<string, Node>, object: KubernetesObject): string[] {
  const schema = schemas.get(`${object.apiVersion} ${object.kind}`)
  if (schema === undefined) return [`${object.apiVersion} ${object.kind} is not known`]
  const [isValid, errors] = Errors(schema, object)
  return isValid ? [] : errors.map(({ instancePath, message }) => `${object.kind}${instancePath} ${message}`)
}

/** A schema that rejects the fields that it does not name, at every depth. */
function closed(node: Node): Node {
  const inner = mapValues(node, (value) =>
    Array.isArray(value)
      ? value.map((each) => (isRecord(each) ? closed(each) : each))
      : isRecord(value)
        ? closed(value)
        : value,
  )
  const isOpen = node['additionalProperties'] !== undefined || node['x-kubernetes-preserve-unknown-fields'] === true
  return isRecord(node['properties']) && node['type'] === 'object' && !isOpen
    ? { ...inner, additionalProperties: false }
    : inner
}

const mapValues = <T>(node: Readonly<Record<string, T>>, change: (value: T) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(value)]))
