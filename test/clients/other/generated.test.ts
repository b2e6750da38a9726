import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { startAdminApp, type AdminApp } from '../../support/administration.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)
const generated = join(import.meta.dirname, 'generated')
const programs = join(import.meta.dirname, 'node_modules/.bin')
const python = join(import.meta.dirname, 'node_modules/.python/bin')
const withoutGenerator = existsSync(join(python, 'openapi-python-client'))
  ? false
  : 'there is no Python on this machine'

const expected = {
  content: [{ type: 'text', text: '[gatehouse-echo] You said: Hello' }],
  created: 'No names',
  names: ['No names'],
}

describe('a client that is generated from the OpenAPI description', () => {
  let app: AdminApp
  let temporary: Awaited<ReturnType<typeof temporaryFolder>>
  let folder: string
  let description: string

  before(async () => {
    temporary = await temporaryFolder()
    folder = temporary.path
    symlinkSync(join(import.meta.dirname, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    app = await startAdminApp()
    description = join(folder, 'openapi.json')
    writeFileSync(description, JSON.stringify(app.app.openapi()))
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    await temporary[Symbol.asyncDispose]()
  })

  it('is based on a valid description', { skip: withoutGenerator }, async () => {
    await run(join(python, 'openapi-spec-validator'), ['--schema', '3.1', description])
  })

  it('compiles and calls the gateway in TypeScript', async () => {
    await run(join(programs, 'openapi-typescript'), [description, '--output', join(folder, 'api.ts')])
    const program = join(folder, 'use.ts')
    copyFileSync(join(generated, 'use.ts'), program)
    await run(join(programs, 'tsc'), [...compilerOptions, program], { cwd: folder })
    await checkCalls(process.execPath, program)
  })

  it('compiles and calls the gateway in Python', { skip: withoutGenerator }, async () => {
    const output = join(folder, 'api_client')
    const options = ['generate', '--path', description, '--meta', 'none', '--output-path', output]
    const { stdout, stderr } = await run(join(python, 'openapi-python-client'), options, {
      env: { ...process.env, PATH: `${python}:${process.env['PATH']}` },
    })
    const warnings = (stdout + stderr).match(/(?<=WARNING parsing ).*(?= within)/g)
    assert.deepEqual(
      warnings,
      ['GET /docs/assets/{file}'],
      'the generator knows no operation with several content types',
    )
    await run(join(python, 'python'), ['-m', 'compileall', '-q', output])
    const program = join(folder, 'use.py')
    copyFileSync(join(generated, 'use.py'), program)
    await checkCalls(join(python, 'python'), program)
  })

  async function checkCalls(interpreter: string, program: string): Promise<void> {
    const organization = await app.otherOrganization()
    const key = await organization.admin.post(`/projects/${organization.projectId}/api_keys`, { name: 'Test' })
    const { stdout } = await run(interpreter, [program, app.url, String(key['value']), organization.admin.key])
    assert.deepEqual(JSON.parse(stdout), expected)
  }
})

const compilerOptions = [
  '--noEmit',
  '--strict',
  ...['--target', 'esnext', '--module', 'nodenext', '--types', 'node'],
  ...['--typeRoots', join(import.meta.dirname, '../../../node_modules/@types')],
  '--allowImportingTsExtensions',
]
