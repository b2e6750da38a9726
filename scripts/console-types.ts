// Writes the types of the API for the console, from the OpenAPI description of this checkout. They are never committed, so a
// field that is renamed in the API is a type error in the console. `npm run check` runs it first. `node scripts/console-types.ts FILE`
// writes them to another file.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const [target = 'console/src/api/schema.d.ts'] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
try {
  const description = join(folder, 'openapi.json')
  writeFileSync(description, run('node', 'bin/gatehouse.mjs', 'openapi'))
  // The generator needs a TypeScript of its own, so npm installs it in the workspace.
  run('node', 'console/node_modules/openapi-typescript/bin/cli.js', description, '-o', target)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function run(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}` },
  })
  if (status === 0) return stdout
  process.stderr.write(stdout + stderr)
  process.exit(1)
}
