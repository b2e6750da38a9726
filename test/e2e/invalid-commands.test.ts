import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { runCommandLine } from '../../src/cli/run.ts'
import { openCommandLine } from '../support/command-line.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('the doctor', () => {
  const diagnose = async (env: Record<string, string>) => {
    const checks: { part: string; state: string; says: string }[] = []
    await runCommandLine(['doctor', '--json'], {
      env,
      print: (line) => void checks.push(...JSON.parse(line)),
      printError: assert.fail,
      confirm: async () => false,
    })
    return checks
  }
  const findings = async (dataDir: string): Promise<Record<string, string>> =>
    Object.fromEntries((await diagnose({ GATEHOUSE_DATA_DIR: dataDir })).map(({ part, state }) => [part, state]))

  it('accepts a data folder that does not exist yet, and whose parents do not exist', async () => {
    await using folder = await temporaryFolder()
    assert.equal((await findings(join(folder.path, 'not', 'yet', 'there')))['data folder'], 'ok')
  })

  it('does not call an upstream built in because it has no base URL', async () => {
    await using folder = await temporaryFolder()
    const settings = join(folder.path, 'settings.yaml')
    writeFileSync(settings, 'upstreams: [{ name: a, kind: openai-chat }, { name: b, kind: echo }]')
    const checks = await diagnose({ GATEHOUSE_DATA_DIR: join(folder.path, 'data'), GATEHOUSE_CONFIG: settings })
    const messages = checks.flatMap(({ part, says }) => (part.startsWith('upstream') ? [says] : []))
    assert.deepEqual(messages, ['openai-chat, not asked: no model uses it', 'echo, built in'])
  })

  it('does not check the storage in a data folder that cannot be used', async () => {
    const checks = await findings('/dev/null/data')
    assert.deepEqual([checks['data folder'], checks['storage']], ['wrong', undefined])
  })
})

describe('a command with a typing error', async () => {
  const { call, json, ...line } = await openCommandLine()
  before(() => call('setup'))
  after(() => line[Symbol.asyncDispose]())

  const long = 'x'.repeat(81)
  for (const [args, says] of [
    [['keys', 'revoke', 'key_1', 'key_2'], /key_2/],
    [['serve', 'now'], /now/],
    [['keys', 'create', '--admin', '--name', 'a', '--models', 'm'], /--models/],
    [['keys', 'create', '--admin', '--name', 'a', '--budget-usd', '5'], /not for administrator keys/],
    [['keys', 'create', '--name', 'a', '--budget-usd', '5', '--budget-tokens', '5'], /Only one/],
    [['keys', 'create', '--name', 'a', '--budget-usd', 'five'], /--budget-usd: five is not a number/],
    [['keys', 'create', '--name', 'a', '--budget-usd', '5', '--budget-period', 'year'], /--budget-period/],
    [['keys', 'create', '--name', 'a', '--budget-period', 'day'], /need --budget-usd/],
    [['keys', 'create', '--admin', '--name', 'a', '--project', 'p'], /--project/],
    [['policies', 'create', '--name', 'a', '--rule', 'r', '--rule-file', 'f'], /--rule-file/],
    [['credits', 'ledger', '--limit', '1.5'], /--limit/],
    [['credits', 'ledger', '--limit', '0'], /--limit/],
    [['credits', 'ledger', '--limit', '99999999999999999999'], /--limit/],
  ] as const) {
    it(`is not run at all: ${args.join(' ')}`, async () => {
      const { status, errors } = await call(...args)
      assert.equal(status, 2)
      assert.match(errors.split('\n', 1)[0] ?? '', says)
    })
  }

  for (const [args, says] of [
    [['orgs', 'create', '--name', long], /^name: .*80/],
    [['projects', 'create', '--name', long], /^name: .*80/],
    [['keys', 'create', '--name', long], /^name: .*80/],
    [['keys', 'create', '--admin', '--name', long], /^name: .*80/],
    [['keys', 'create', '--name', 'a', '--expires', '2020-01-01'], /^expires_at: .*future/],
    [
      ['keys', 'create', '--name', 'a', '--expires', '99999999999999d'],
      /^expires_at: must be at most 253402300799 \(invalid_parameter\)$/,
    ],
    [['keys', 'create', '--admin', '--name', 'a', '--expires', '2020-01-01'], /^expires_at: .*future/],
    [
      ['keys', 'create', '--name', 'a', '--permissions', 'policies:read'],
      /^permissions\[0\]: must be one of "gateway:read", /,
    ],
    [['keys', 'create', '--admin', '--name', 'a', '--permissions', ''], /^permissions: must have at least 1 item/],
    [['keys', 'list', '--project', 'proj_gone'], /no project proj_gone/],
  ] as const) {
    it(`changes nothing and explains why: ${args.join(' ').replace(long, 'xx…')}`, async () => {
      const { status, errors } = await call(...args)
      assert.equal(status, 1)
      assert.match(errors, says)
    })
  }

  it('creates a key only for inference if it names no permissions', async () => {
    const key = await json('keys', 'create', '--name', 'app', '--permissions', '')
    assert.deepEqual(key.permissions, [])
  })
})
