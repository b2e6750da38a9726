import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { completionOf } from '../../src/cli/completion.ts'
import { commands } from '../../src/cli/commands.ts'
import { startAdminApp } from '../support/administration.ts'
import { openCommandLine } from '../support/command-line.ts'
import { startReceiver } from '../support/receiver.ts'

describe('a command in a folder without a database', () => {
  const reads = [
    ['keys', 'list'],
    ['orgs', 'list'],
    ['credits', 'balance'],
    ['usage'],
    ['audit', 'list'],
    ['audit', 'verify'],
    ['policies', 'list'],
    ['sinks', 'list'],
    ['alerts', 'list'],
    ['alerts', 'channels'],
    ['alerts', 'rules'],
    ['limits', 'show'],
    ['keys', 'create', '--name', 'a'],
  ]
  for (const args of reads) {
    it(`creates nothing and names the folder: ${args.join(' ')}`, async () => {
      await using line = await openCommandLine()
      const { status, errors } = await line.call(...args)
      assert.equal(status, 1)
      assert.match(errors, /^There is no database in .*\/data\. Name the data folder with --data-dir/)
      assert.deepEqual(readdirSync(line.folder), [])
    })
  }

  it('creates nothing for the doctor, which says what would', async () => {
    await using line = await openCommandLine()
    const { output } = await line.call('doctor')
    assert.match(output, /storage: there is no database in the data folder yet/)
    assert.deepEqual(readdirSync(line.folder), [])
  })

  it('creates the database for setup, and reads it under --data-dir', async () => {
    await using line = await openCommandLine()
    const other = join(line.folder, 'other')
    assert.equal((await line.call('setup', '--data-dir', other)).status, 0)
    assert.equal(existsSync(line.dataDir), false)
    assert.equal((await line.call('keys', 'list', `--data-dir=${other}`)).status, 0)
    assert.match((await line.call('keys', 'list', '--data-dir')).errors, /^The value of --data-dir is missing\./)
  })

  it('reads the configuration that --config names', async () => {
    await using line = await openCommandLine()
    const file = join(line.folder, 'other.yaml')
    writeFileSync(file, 'server: { prot: 1 }')
    const { status, errors } = await line.call('keys', 'list', '--config', file)
    assert.deepEqual([status, /server\.prot is not known; did you mean port/.test(errors)], [2, true])
  })
})

describe('an error with --json', () => {
  const errorOf = async (line: Awaited<ReturnType<typeof openCommandLine>>, ...args: string[]) => {
    const { output, errors } = await line.call(...args, '--json')
    assert.equal(output, '')
    return JSON.parse(errors).error
  }

  it('is JSON with the code and the field, on standard error', async () => {
    await using line = await openCommandLine()
    assert.equal((await errorOf(line, 'keys', 'list')).code, 'failed')
    await line.call('setup')
    assert.equal((await errorOf(line, 'keys', 'revoke')).code, 'invalid_usage')
    const invalid = await errorOf(line, 'projects', 'create', '--name', 'x'.repeat(81))
    assert.deepEqual([invalid.code, invalid.param], ['invalid_parameter', 'name'])
    assert.equal((await errorOf(line, 'sinks', 'show', 'sink_gone')).code, 'not_found')
  })
})

describe('gatehouse orgs create --with-project', () => {
  it('creates an organization that can be used at once', async () => {
    await using line = await openCommandLine()
    await line.call('setup')
    const created = await line.json('orgs', 'create', '--name', 'Second', '--with-project')
    assert.match(created.admin_key, /^adm_/)
    assert.match(created.api_key, /^ak_/)
    const keys = await line.json('keys', 'list', '--org', created.id)
    assert.deepEqual([keys.api_keys.length, keys.admin_api_keys.length], [2, 1])
    assert.equal(keys.api_keys[0].project_id, created.project_id)
    assert.match(
      (await line.call('orgs', 'create', '--name', 'Third', '--with-project')).output,
      /policy gateway key +ak_[^]*application key +ak_/,
    )
  })

  it('creates neither project nor keys without the option', async () => {
    await using line = await openCommandLine()
    await line.call('setup')
    const created = await line.json('orgs', 'create', '--name', 'Second')
    assert.equal(created.project_id, undefined)
    assert.deepEqual((await line.json('projects', 'list', '--org', created.id)).data, [])
  })
})

describe('gatehouse keys', () => {
  it('renames, restricts and rotates a key of either kind', async () => {
    await using line = await openCommandLine()
    await line.call('setup')
    for (const kind of [[], ['--admin']]) {
      const created = await line.json('keys', 'create', '--name', 'First', ...kind)
      const network = ['--allow-ip', '203.0.113.0/24']
      const changed = await line.json('keys', 'update', created.id, '--name', 'Second', '--expires', '30d', ...network)
      assert.deepEqual([changed.name, changed.allowed_ips], ['Second', ['203.0.113.0/24']])
      assert.ok(changed.expires_at > created.created_at)
      const lifted = await line.json('keys', 'update', created.id, '--expires', 'never', '--allow-ip', 'any')
      assert.deepEqual([lifted.expires_at ?? null, lifted.allowed_ips], [null, null])
      const rotated = await line.json('keys', 'rotate', created.id, '--grace', '1h')
      assert.equal(rotated.id, created.id)
      assert.notEqual(rotated.value, created.value)
      assert.ok(Math.abs(rotated.previous_expires_at - Date.now() / 1000 - 3600) < 600)
    }
    assert.match((await line.call('keys', 'update', 'key_gone', '--name', 'a')).errors, /There is no key key_gone/)
    assert.match((await line.call('keys', 'rotate')).errors, /^The id of the key is missing/)
  })
})

describe('commands that undo', () => {
  it('unarchive a project, and set a draft back to what is published', async () => {
    await using line = await openCommandLine()
    await line.call('setup')
    const project = await line.json('projects', 'create', '--name', 'Second')
    assert.equal((await line.json('projects', 'archive', project.id)).status, 'archived')
    assert.equal((await line.json('projects', 'unarchive', project.id)).status, 'active')
    const { id } = await line.json('policies', 'create', '--name', 'Birds', '--rule', '"falcon"')
    await line.call('policies', 'publish', id)
    assert.equal((await line.json('policies', 'update', id, '--rule', '"heron"')).has_unpublished_changes, true)
    const discarded = await line.json('policies', 'discard', id)
    assert.deepEqual([discarded.draft.rule, discarded.has_unpublished_changes], ['"falcon"', false])
  })
})

describe('commands that read', () => {
  async function openServer() {
    await using stack = new AsyncDisposableStack()
    const line = stack.use(await openCommandLine())
    const app = stack.use(
      await startAdminApp({
        config: { storage: { data_dir: line.dataDir }, exports: { allow_addresses: ['127.0.0.0/8'] }, limits: {} },
      }),
    )
    const kept = stack.move()
    return { ...line, app, [Symbol.asyncDispose]: () => kept.disposeAsync() }
  }

  it('show dates of this century', async () => {
    await using line = await openCommandLine()
    await line.call('setup')
    const created = await line.json('policies', 'create', '--name', 'a', '--rule', '"falcon"')
    const shown = (await line.call('policies', 'show', created.id)).output
    assert.match(shown, /changed 20\d\d-\d\d-\d\d \d\d:\d\d$/m)
    for (const args of [
      ['orgs', 'list'],
      ['projects', 'list'],
      ['credits', 'ledger'],
      ['audit', 'list'],
    ])
      assert.match((await line.call(...args)).output, /\b20\d\d-\d\d-\d\d \d\d:\d\d\b/)
  })

  it('list audit events by kind and time', async () => {
    await using line = await openCommandLine()
    await line.call('setup')
    await line.call('policies', 'create', '--name', 'a', '--rule', '"falcon"')
    const kinds = async (...args: string[]) =>
      (await line.json('audit', 'list', ...args)).data.map(({ kind }: { kind: string }) => kind)
    assert.deepEqual(await kinds(), ['policy.created', 'organization.created'])
    assert.deepEqual(await kinds('--kind', 'policy.created'), ['policy.created'])
    assert.deepEqual(await kinds('--limit', '1'), ['policy.created'])
    assert.deepEqual(await kinds('--until', '1d'), [])
    assert.match((await line.call('audit', 'list')).output, /^SEQUENCE +AT +KIND[^]*policy\.created/)
  })

  it('show usage by project and model', async () => {
    await using line = await openServer()
    assert.match((await line.call('usage')).output, /^No usage from 20/)
    const message = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }
    assert.equal((await line.app.post('/v1/messages', message)).status, 200)
    const grouped = await line.call('usage', '--by', 'project,model', '--bucket', 'hour', '--from', '1d')
    assert.match(grouped.output, /^FROM +PROJECT +MODEL +REQUESTS[^]*proj_\w+ +gatehouse-echo +1 /)
    assert.match(
      (await line.call('usage', '--by', 'colour')).errors,
      /--by: colour is not one of project, key, model, user/,
    )
  })

  it('show the limits and what is left', async () => {
    await using line = await openServer()
    const { output } = await line.call('limits', 'show')
    assert.match(output, /^plan free, tier \w+\n\nSCOPE +METRIC +LIMIT +LEFT\nkey +requests per minute +\d+ +\d+/)
  })

  it('create, test, change and delete an export sink', async (t) => {
    await using line = await openServer()
    const receiver = await startReceiver(t, () => ({ status: 200 }))
    const file = join(line.folder, 'sink.yaml')
    writeFileSync(
      file,
      `type: webhook\nlabel: Security\nconfig: { url: '${receiver.origin}/events', secret: at-least-24-plain-characters }\n`,
    )
    const { export: sink } = await line.json('sinks', 'create', '-f', file)
    assert.match((await line.call('sinks', 'list')).output, new RegExp(`${sink.id} +webhook +Security`))
    const tested = await line.call('sinks', 'test', sink.id)
    assert.deepEqual([tested.status, /accepted the event/.test(tested.output)], [0, true])
    assert.match((await line.call('sinks', 'disable', sink.id)).output, /disabled/)
    writeFileSync(file, 'label: Audit\n')
    assert.equal((await line.json('sinks', 'update', sink.id, '--file', file)).export.label, 'Audit')
    assert.equal((await line.call('sinks', 'dead-letters', sink.id)).status, 0)
    assert.match((await line.call('sinks', 'replay', sink.id)).output, /^0 events will be sent again/)
    assert.equal((await line.call('sinks', 'delete', sink.id)).output, `${sink.id} is deleted.`)
    const underFormerName = await line.json('exports', 'list')
    assert.deepEqual(underFormerName.data, [])
  })
})

describe('the completion of the shell', () => {
  const complete = async (...words: string[]): Promise<string[]> => {
    await using line = await openCommandLine()
    const { output: script } = await line.call('completion', 'bash')
    const ask = `COMP_WORDS=(gatehouse ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _gatehouse; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' })
    assert.equal(stderr, '')
    return stdout.split('\n').filter(Boolean)
  }

  it('knows every command, the verbs and the options', async () => {
    assert.deepEqual(await complete(''), Object.keys(commands))
    assert.deepEqual(await complete('po'), ['policies'])
    assert.deepEqual(await complete('orgs', 'set-'), ['set-plan', 'set-metering', 'set-limits'])
    assert.deepEqual(await complete('orgs', 'create', '--w'), ['--with-project'])
    assert.deepEqual(await complete('sinks', 'di'), ['disable'])
    assert.deepEqual(await complete('serve', '--p'), ['--port'])
  })

  it('has a script for zsh and fish with the same words', async () => {
    await using line = await openCommandLine()
    for (const shell of ['zsh', 'fish']) {
      const { output } = await line.call('completion', shell)
      for (const [name, load] of Object.entries(commands)) {
        for (const verb of completionOf(name, await load()).verbs) assert.ok(output.includes(verb), `${shell} ${verb}`)
      }
    }
    assert.match((await line.call('completion', 'tcsh')).errors, /^There is no completion for tcsh/)
  })
})
