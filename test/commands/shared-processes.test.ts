import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { findTestFiles } from '../../scripts/test/files.ts'
import { planProcesses, sharedFolders } from '../../scripts/test/shared-processes.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('the processes of a test run', () => {
  it('run each file once', async () => {
    await using folder = await temporaryFolder()
    const files = findTestFiles([])
    const planned = planProcesses(files, folder.path).flatMap((process) => process.files)
    assert.deepEqual(planned.toSorted(), files)
  })

  it('are shared by the files beside the sources and those of the API only', async () => {
    await using folder = await temporaryFolder()
    const files = [
      'src/a.test.ts',
      'src/b.test.ts',
      'test/faults/c.test.ts',
      'test/faults/d.test.ts',
      'test/http/e.test.ts',
    ]
    const planned = planProcesses(files, folder.path)
    assert.deepEqual(
      planned.map((process) => process.files.join(' ')),
      ['src/a.test.ts src/b.test.ts', 'test/http/e.test.ts', 'test/faults/c.test.ts', 'test/faults/d.test.ts'],
    )
  })
})

describe('files that share a process', () => {
  it('are named if they fail, if they cannot be loaded, and if the failed test is defined in another file', async () => {
    const outcome = await outcomeOf({
      'src/good.test.ts': `import { it } from 'node:test'\nit('passes', () => {})`,
      'src/failing.test.ts': `import { it } from 'node:test'\nit('fails', () => { throw new Error() })`,
      'src/helped.test.ts': `import { failing } from './helper.ts'\nfailing()`,
      'src/helper.ts': `import { it } from 'node:test'\nexport const failing = () => it('fails', () => { throw new Error() })`,
      'src/unloadable.test.ts': `throw new Error('cannot be loaded')`,
    })
    assert.equal(outcome.isSuccess, false)
    assert.deepEqual(outcome.failed, ['src/failing.test.ts', 'src/helped.test.ts', 'src/unloadable.test.ts'])
  })

  it('fail the run even if nothing but the loading of one failed', async () => {
    const outcome = await outcomeOf({
      'src/good.test.ts': `import { it } from 'node:test'\nit('passes', () => {})`,
      'src/unloadable.test.ts': `throw new Error('cannot be loaded')`,
    })
    assert.deepEqual(outcome, { isSuccess: false, skipped: [], failed: ['src/unloadable.test.ts'], unfinished: [] })
  })

  it('have their own hooks', async () => {
    const hooked = (own: string) => `
      import assert from 'node:assert'
      import { before, it } from 'node:test'
      const ran = (globalThis.ran ??= [])
      before(() => ran.push('${own}'))
      it('runs its own hook last', () => assert.equal(ran.at(-1), '${own}'))`
    const outcome = await outcomeOf({ 'src/one.test.ts': hooked('one'), 'src/two.test.ts': hooked('two') })
    assert.deepEqual(outcome, { isSuccess: true, skipped: [], failed: [], unfinished: [] })
  })

  it('are all loaded before the first test starts', async () => {
    const outcome = await outcomeOf({
      'src/early.test.ts': `
        import assert from 'node:assert'
        import { it } from 'node:test'
        it('starts after the other file was loaded', () => assert.ok(globalThis.isLateLoaded))`,
      'src/late.test.ts': `
        import { it } from 'node:test'
        await new Promise((resolve) => setTimeout(resolve, 100))
        globalThis.isLateLoaded = true
        it('passes', () => {})`,
    })
    assert.deepEqual(outcome, { isSuccess: true, skipped: [], failed: [], unfinished: [] })
  })

  it('do not change what the process has only once', () => {
    const texts = findTestFiles(sharedFolders).map((file) => [file, readFileSync(file, 'utf8')] as const)
    assert.deepEqual(lastingChanges(texts), [])
  })

  it('are found if they do', () => {
    const planted = [
      ['src/a.test.ts', `process.env['HOME'] = '/'`],
      ['src/b.test.ts', 'delete process.env.HOME'],
      ['src/c.test.ts', `process.chdir('/')`],
      ['src/d.test.ts', `import { startTestApp } from '../test/support/app.ts'`],
      ['test/http/e.test.ts', 'setGlobalDispatcher(agent)'],
      ['test/http/f.test.ts', `import { startTestApp } from '../support/app.ts'\nprocess.env['HOME'] === '/'`],
    ] as const
    assert.deepEqual(
      lastingChanges(planted),
      planted.slice(0, -1).map(([file]) => file),
    )
  })
})

/** What a file would leave to the next one: environment, working folder, network settings. Unit tests start no app either. */
function lastingChanges(files: readonly (readonly [file: string, text: string])[]): string[] {
  const change = /process\.env(\.\w+|\[[^\]]+\]) (=|\?\?=) |delete process\.env|process\.chdir\(|setGlobalDispatcher/
  const app = /support\/(app|program|postgres-server|redis-server|browser)\.ts'/
  return files
    .filter(([file, text]) => change.test(text) || (file.startsWith('src/') && app.test(text)))
    .map(([file]) => file)
}

/** Runs these files as a test run does. */
async function outcomeOf(files: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  await using folder = await temporaryFolder()
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.path, file)), { recursive: true })
    writeFileSync(join(folder.path, file), text)
  }
  const tests = Object.keys(files).filter((file) => file.endsWith('.test.ts'))
  const run = JSON.stringify({ files: tests, environment: {}, folder: folder.path })
  const program = join(folder.path, 'run.mjs')
  writeFileSync(
    program,
    `import { runTests } from '${import.meta.resolve('../../scripts/test/run.ts')}'
    const outcome = await runTests({ ...${run}, signal: new AbortController().signal })
    process.stderr.write(JSON.stringify(outcome))`,
  )
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stderr } = spawnSync(process.execPath, [program], { cwd: folder.path, env })
  return JSON.parse(stderr.toString()) as Record<string, unknown>
}
