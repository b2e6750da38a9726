import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'

const root = resolve(import.meta.dirname, '..')

/** What the API gains, and the files of the console that then do not compile. `into` are names of OpenAPI schemas. */
type Planted = { readonly title: string; readonly into: Readonly<Record<string, string>>; readonly finds: string[] }

const planted: readonly Planted[] = [
  { title: 'compiles with the API as it is', into: {}, finds: [] },
  {
    title: 'does not compile with a new field of the content before form and diff handle it',
    into: {
      PolicyDraft: 'priority: number;',
      PolicyVersion: 'priority: number;',
      PolicyCreate: 'priority?: number | null;',
      PolicyUpdate: 'priority?: number | null;',
    },
    finds: ['content.ts: priority', 'settings.tsx: priority'],
  },
  {
    title: 'does not compile with a new field of the policy itself before the form has it',
    into: { Policy: 'owner: string;', PolicyUpdate: 'owner?: string;' },
    finds: ['content.ts: owner', 'settings.tsx: owner'],
  },
  {
    title: 'does not compile with a field that the command cannot express',
    into: { PolicyUpdate: 'schedule?: { from: number };' },
    finds: ['content.ts: schedule'],
  },
]

describe('the page of a policy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-fields-'))
  const schema = join(folder, 'console/src/api/schema.d.ts')
  let types: string
  before(() => {
    for (const path of ['console/src', 'console/tsconfig.json'])
      cpSync(join(root, path), join(folder, path), { recursive: true })
    for (const path of ['node_modules', 'console/node_modules']) symlinkSync(join(root, path), join(folder, path))
    execFileSync(process.execPath, [join(root, 'scripts/console-types.ts'), schema])
    types = readFileSync(schema, 'utf8')
    const files = ['src/pages/policies/edit-tab.tsx', 'src/pages/policies/new-policy-dialog.tsx']
    writeFileSync(
      join(folder, 'console/policy.json'),
      JSON.stringify({ extends: './tsconfig.json', include: [], files }),
    )
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  for (const { title, into, finds } of planted)
    it(title, () => {
      writeFileSync(schema, Object.entries(into).reduce(plant, types))
      assert.deepEqual(compileErrors(folder, Object.values(into)), finds)
    })
})

/** Adds a field to a schema of the API. */
function plant(types: string, [schema, field]: readonly [string, string]): string {
  const opening = `\n        ${schema}: {\n`
  assert.equal(types.split(opening).length, 2, `${schema} is defined once`)
  return types.replace(opening, `${opening}            ${field}\n`)
}

/** Each file that does not compile, with the planted field that the compiler names. */
function compileErrors(folder: string, fields: readonly string[]): string[] {
  const compiler = join(root, 'node_modules/.bin/tsc')
  const { stdout } = spawnSync(compiler, ['--pretty', 'false', '--project', 'console/policy.json'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const names = fields.map((field) => /^\w+/.exec(field)?.[0] ?? field)
  const errors = stdout.split(/\n(?=\S)/).filter((each) => each.trim() !== '')
  const found = errors.map((error) => {
    const file = /([\w-]+\.tsx?)\(\d+,\d+\): error/.exec(error)?.[1]
    return `${file ?? error}: ${names.find((name) => error.includes(name)) ?? error}`
  })
  return [...new Set(found)].sort()
}
