import { readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments, type Document, type Node } from 'yaml'
import { messageOf } from '../../base/fault.ts'
import { readRegularFile } from '../../base/regular-file.ts'
import type { FileProblem } from '../../app/client/file-problems.ts'
import { checkResourceFile, type ResourceFileBody } from '../../app/client/resource-files.ts'
import { UsageError } from '../command.ts'
import { oneLine } from '../table.ts'

type Path = FileProblem['path']

/** A value of a file, and where its fields are. */
export type Located<T> = {
  readonly value: T
  /** Path of the file. */
  readonly file: string
  /** `folder/keys.yaml:12`: the line of a field, or of the nearest one around it. */
  at(path?: Path): string
}

type Lists = Required<
  Pick<
    ResourceFileBody,
    | 'projects'
    | 'api_keys'
    | 'admin_api_keys'
    | 'export_sinks'
    | 'alert_channels'
    | 'alert_rules'
    | 'upstreams'
    | 'models'
    | 'judges'
    | 'budgets'
    | 'policies'
  >
>

/** Parts that only one file may have. */
type SinglePart = 'owner' | 'organization' | 'gateway' | 'publish_gate'

/** What the files describe. */
export type Resources = {
  readonly [Kind in keyof Lists]: readonly Located<Lists[Kind][number]>[]
} & {
  readonly [Part in SinglePart]: Located<NonNullable<ResourceFileBody[Part]>> | undefined
} & {
  /** Whether they are all files of a folder. A single file can be one of several of an owner. */
  readonly isFolder: boolean
}

/** Everything that is wrong with the files, one line for each mistake. */
export class FileErrors extends Error {
  constructor(lines: readonly string[]) {
    super(lines.map(oneLine).join('\n'))
    this.name = 'FileErrors'
  }
}

/** Reads a file, or every YAML file in a folder. All mistakes of all files are reported together. */
export function readResources(path: string): Resources {
  const problems: string[] = []
  const bodies = filesOf(path).flatMap((file) => bodiesIn(file, problems))
  const only = <Part extends SinglePart>(part: Part) => {
    const [first, second] = bodies.flatMap((body) => partOf(body, part))
    if (first && second && !(part === 'owner' && second.value === first.value))
      problems.push(`${second.at()}: ${part}: is in ${first.at()} already; write it once.`)
    return first
  }
  const all = <Kind extends keyof Lists>(kind: Kind) => bodies.flatMap((body) => itemsOf(body, kind))
  const resources: Resources = {
    isFolder: statSync(path).isDirectory(),
    owner: only('owner'),
    organization: only('organization'),
    gateway: only('gateway'),
    publish_gate: only('publish_gate'),
    projects: all('projects'),
    api_keys: all('api_keys'),
    admin_api_keys: all('admin_api_keys'),
    export_sinks: all('export_sinks'),
    upstreams: all('upstreams'),
    models: all('models'),
    judges: all('judges'),
    budgets: all('budgets'),
    alert_channels: all('alert_channels'),
    alert_rules: all('alert_rules'),
    policies: all('policies'),
  }
  if (problems.length > 0) throw new FileErrors(problems)
  return resources
}

function filesOf(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) throw new UsageError(`-f: there is no file or folder ${path}.`)
  if (!stats.isDirectory()) return [path]
  const files = yamlFilesIn(path, []).toSorted()
  if (files.length === 0) throw new UsageError(`-f: there is no .yaml file in ${path}.`)
  return files
}

/** Links are followed, because Kubernetes mounts files as links. A link to a folder around it would never end. */
function yamlFilesIn(folder: string, around: readonly string[]): string[] {
  const real = realpathSync(folder)
  if (around.includes(real))
    throw new UsageError(`-f: ${folder} is a link to a folder that contains it. Remove the link.`)
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) => {
      const path = join(folder, name)
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return yamlFilesIn(path, [...around, real])
      return /\.ya?ml$/.test(name) ? [path] : []
    })
}

/** The documents of a file, which `---` separates. */
function bodiesIn(file: string, problems: string[]): Located<ResourceFileBody>[] {
  const lines = new LineCounter()
  return documentsOf(readRegularFile(file), lines).flatMap((document) => {
    const place = (path: Path = []): string => `${file}:${lines.linePos(offsetOf(document, path)).line}`
    const broken = document.errors.map(
      ({ message, pos: [offset] }) => `${file}:${lines.linePos(offset).line}: ${message}`,
    )
    const parsed = broken.length > 0 ? { problems: [] } : parsedBody(document)
    if ('file' in parsed) return [{ value: parsed.file, file, at: place }]
    problems.push(...broken, ...parsed.problems.map(({ path, message }) => `${place(path)}: ${message}.`))
    return []
  })
}

function documentsOf(text: string, lineCounter: LineCounter): Document.Parsed[] {
  const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false })
  return Array.isArray(documents) ? documents : []
}

/** A document with comments only describes nothing. */
function parsedBody(document: Document.Parsed): ReturnType<typeof checkResourceFile> {
  try {
    return checkResourceFile(document.contents === null ? {} : document.toJS())
  } catch (error) {
    return { problems: [{ path: [], message: messageOf(error) }] }
  }
}

/** The offset of the field at a path, or of the last one on the way to it that exists. */
function offsetOf(document: Document.Parsed, path: Path): number {
  let node: Node | null = document.contents
  let offset = node?.range?.[0] ?? 0
  for (const step of path) {
    const found = childOf(node, step)
    if (!found) break
    offset = found.offset ?? offset
    node = found.node
  }
  return offset
}

function childOf(
  node: Node | null,
  step: string | number,
): { node: Node | null; offset?: number | undefined } | undefined {
  if (isSeq<Node>(node) && typeof step === 'number') {
    const item = node.items[step]
    return item && { node: item, offset: item.range?.[0] }
  }
  if (!isMap<Node, Node | null>(node)) return undefined
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
  return pair && { node: pair.value, offset: pair.key.range?.[0] }
}

const within = <T>({ file, at }: Located<unknown>, prefix: Path, value: T): Located<T> => ({
  value,
  file,
  at: (path = []) => at([...prefix, ...path]),
})

const partOf = <Part extends keyof ResourceFileBody>(body: Located<ResourceFileBody>, part: Part) => {
  const value = body.value[part]
  return value === undefined ? [] : [within<NonNullable<ResourceFileBody[Part]>>(body, [part], value)]
}

const itemsOf = <Kind extends keyof Lists>(
  body: Located<ResourceFileBody>,
  kind: Kind,
): Located<Lists[Kind][number]>[] => {
  const items: readonly Lists[Kind][number][] = body.value[kind] ?? []
  return items.map((item, at) => within(body, [kind, at], item))
}
