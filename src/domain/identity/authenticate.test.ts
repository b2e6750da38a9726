import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../../base/fault.ts'
import { systemRandom } from '../../base/random.ts'
import { createAuthFailures } from './auth-failures.ts'
import { createAuthenticator } from './authenticate.ts'
import { createChanges } from './changes.ts'
import { createKeyDigests } from './key-digests.ts'
import { createKeyring } from './keyring.ts'
import { mintSecret } from './key-format.ts'
import type { ApiKey, Organization } from './principal.ts'
import type { CredentialStore, FoundKey } from './store.ts'
import type { Claims } from './token-reader.ts'

const organization: Organization = {
  id: 'org_1',
  name: 'One',
  plan: 'free',
  lifetimePaidMicroUsd: 0,
  metered: true,
  createdAtMs: 0,
}
const project = { id: 'proj_1', organizationId: 'org_1', name: 'P', createdAtMs: 0, archivedAtMs: null }

function createScene(overrides: Partial<ApiKey> = {}, verifyToken?: (token: string) => Promise<Claims>) {
  let nowMs = 1_000_000
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} }
  const secret = mintSecret('ak', systemRandom)
  const keyring = createKeyring({ current: 'the server secret' })
  const digests = createKeyDigests(keyring)
  const key: ApiKey = {
    id: 'key_1',
    organizationId: 'org_1',
    projectId: 'proj_1',
    name: 'K',
    redactedValue: '',
    permissions: [],
    allowedIps: null,
    models: null,
    createdAtMs: 0,
    expiresAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
    ...overrides,
  }
  const storage: { isReady: Promise<void>; outage?: Fault } = { isReady: Promise.resolve() }
  const { digest, secretId } = digests.current(secret)
  const rows = new Map<string, FoundKey<ApiKey>>([[digest, { key, organization, secretId }]])
  const log = { lookUps: 0, touches: 0, denied: new Array<string>() }
  const store: CredentialStore = {
    async findApiKeys(wanted) {
      log.lookUps++
      await storage.isReady
      if (storage.outage) throw storage.outage
      return new Map([...rows].filter(([each]) => wanted.includes(each)))
    },
    findAdminKeys: async () => new Map(),
    async findProject(organizationId, id) {
      if (storage.outage) throw storage.outage
      return organizationId === 'org_1' && id === 'proj_1' ? { project, organization } : undefined
    },
    async touchKey() {
      log.touches++
    },
    async replaceDigest({ from }, to) {
      const found = rows.get(from)
      if (found && rows.delete(from)) rows.set(to.digest, { ...found, secretId: to.secretId })
    },
    claimFreeRequest: async () => false,
    releaseFreeRequest: async () => {},
  }
  const changes = createChanges(clock)
  const authenticator = createAuthenticator({
    store,
    digests,
    clock,
    changes,
    failures: createAuthFailures(clock, 3),
    verifyToken,
    onIpDenied: (credential, address) => void log.denied.push(`${credential.id} ${address}`),
    onTouchFailed: () => {},
  })
  const revoke = (): void => void rows.set(digest, { key: { ...key, revokedAtMs: nowMs }, organization, secretId })
  return {
    authenticator,
    secret,
    changes,
    log,
    revoke,
    rows,
    keyring,
    storage,
    advance: (ms: number) => void (nowMs += ms),
    ask: async (text = secret) => authenticator.principal(text, '192.0.2.1'),
  }
}

const isToldToWait = (error: unknown): boolean =>
  error instanceof Fault && error.code === 'too_many_auth_failures' && (error.details.retryAfterSeconds ?? 0) > 0
const isRefused = (error: unknown): boolean => error instanceof Fault && error.kind === 'auth'

describe('authentication', () => {
  it('knows a key, and looks it up once', async () => {
    const { ask, log } = createScene()
    assert.equal((await ask()).id, 'key_1')
    await ask()
    assert.equal(log.lookUps, 1)
  })
  it('rejects unknown, expired and revoked keys in the same words', async () => {
    const messages = await Promise.all(
      [createScene({ expiresAtMs: 1 }), createScene({ revokedAtMs: 1 })]
        .map(({ ask }) => ask())
        .concat(createScene().ask(mintSecret('ak', systemRandom)), createScene().ask('ak_nonsense'))
        .map((attempt) =>
          attempt.then(
            () => 'let in',
            (error: Error) => error.message,
          ),
        ),
    )
    assert.deepEqual(new Set(messages), new Set(['The API key is invalid, expired or revoked.']))
  })
  it('rejects a wrong checksum without a lookup', async () => {
    const { authenticator, secret, log } = createScene()
    await assert.rejects(async () => authenticator.principal(`${secret.slice(0, -1)}_`, 'a'), isRefused)
    assert.equal(log.lookUps, 0)
  })
  it('does not take an administrator key for an API key', async () => {
    await assert.rejects(createScene().ask(mintSecret('adm', systemRandom)), isRefused)
  })
  it('rejects a cached key once its revocation is announced', async () => {
    const { ask, revoke, changes } = createScene()
    await ask()
    revoke()
    changes.announce('org_1')
    await assert.rejects(ask(), isRefused)
  })
  it('does not trust what it read before a change that was announced during the read', async () => {
    const scene = createScene()
    const pending = scene.ask()
    scene.revoke()
    scene.changes.announce('org_1')
    await pending.catch(() => {})
    await assert.rejects(scene.ask(), isRefused)
  })
  it('forgets a key at the moment it expires', async () => {
    const { ask, advance } = createScene({ expiresAtMs: 1_005_000 })
    await ask()
    advance(5_000)
    await assert.rejects(ask(), isRefused)
  })
  it('lets a key in again that only a wrong clock took for expired', async () => {
    const { ask, advance } = createScene({ expiresAtMs: 1_005_000 })
    advance(3_600_000)
    await assert.rejects(ask(), isRefused)
    advance(-3_600_000)
    assert.equal((await ask()).id, 'key_1')
  })
  it('rejects a key from an address that it does not allow, looked up or cached, and does not note its use', async () => {
    const { authenticator, secret, ask, log } = createScene({ allowedIps: ['192.0.2.0/24'] })
    const isDenied = (error: unknown): boolean => error instanceof Fault && error.code === 'ip_not_allowed'
    await assert.rejects(async () => authenticator.principal(secret, '198.51.100.1'), isDenied)
    assert.equal(log.touches, 0)
    assert.equal((await ask()).id, 'key_1')
    await assert.rejects(async () => authenticator.principal(secret, '198.51.100.1'), isDenied)
    assert.deepEqual([log.lookUps, log.denied], [1, ['key_1 198.51.100.1', 'key_1 198.51.100.1']])
  })
  it('notes the use of a key at most once a minute', async () => {
    const { ask, advance, log } = createScene()
    for (let count = 0; count < 5; count++) await ask()
    advance(59_999)
    await ask()
    assert.equal(log.touches, 1)
    advance(1)
    await ask()
    assert.equal(log.touches, 2)
  })
  it('accepts a valid key that it has not met yet, however many keys its address invented before', async () => {
    const { ask, log, advance } = createScene()
    for (let count = 0; count < 3; count++) await assert.rejects(ask(mintSecret('ak', systemRandom)), isRefused)
    for (let count = 0; count < 3; count++) await assert.rejects(ask(mintSecret('ak', systemRandom)), isToldToWait)
    assert.equal((await ask()).id, 'key_1')
    assert.equal(log.lookUps, 7)
    advance(60_000)
    await assert.rejects(ask(mintSecret('ak', systemRandom)), isRefused)
  })
  it('tells an address over its budget to wait also for a key that is known to be bad', async () => {
    const { ask } = createScene()
    const bad = mintSecret('ak', systemRandom)
    await assert.rejects(ask(bad), isRefused)
    for (let count = 0; count < 3; count++) await assert.rejects(ask(mintSecret('ak', systemRandom)))
    await assert.rejects(ask(bad), isToldToWait)
  })
  it('asks storage a few times at once, however many keys are invented, and answers a valid key among them', async () => {
    const { ask, authenticator, log, storage, secret } = createScene()
    const gate = Promise.withResolvers<void>()
    storage.isReady = gate.promise
    const flood = Array.from({ length: 2_000 }, () => ask(mintSecret('ak', systemRandom)))
    const fromTheSameAddress = ask()
    const fromElsewhere = authenticator.principal(secret, '192.0.2.2')
    assert.equal(log.lookUps, 4)
    gate.resolve()
    assert.equal((await fromElsewhere).id, 'key_1')
    assert.equal((await fromTheSameAddress).id, 'key_1')
    const outcomes = await Promise.allSettled(flood)
    assert.ok(outcomes.every(({ status }) => status === 'rejected'))
    assert.ok(log.lookUps <= 4 + Math.ceil(2_000 / 512), `${log.lookUps} queries for 2,000 keys`)
  })
  it('answers a key of another address with the next query, not behind thousands of invented ones', async () => {
    const { ask, authenticator, log, storage, secret } = createScene()
    const gates: PromiseWithResolvers<void>[] = []
    Object.defineProperty(storage, 'isReady', {
      get() {
        const gate = Promise.withResolvers<void>()
        gates.push(gate)
        return gate.promise
      },
    })
    for (let count = 0; count < 5_000; count++) ask(mintSecret('ak', systemRandom)).catch(() => {})
    const fromElsewhere = authenticator.principal(secret, '192.0.2.2')
    gates[0]?.resolve()
    await new Promise((resolve) => void setImmediate(resolve))
    assert.equal(log.lookUps, 5)
    gates[4]?.resolve()
    assert.equal((await fromElsewhere).id, 'key_1')
    assert.equal(log.lookUps, 6)
  })
  it('counts the failures of a whole IPv6 network together: it is one subscriber’s', async () => {
    const { authenticator } = createScene()
    const guess = async (host: number) => authenticator.principal(mintSecret('ak', systemRandom), `2001:db8::${host}`)
    for (let host = 1; host <= 3; host++) await assert.rejects(guess(host), isRefused)
    await assert.rejects(guess(4), isToldToWait)
  })
  it('holds nothing against an address that costs no lookup: keys that cannot be any, and none at all', async () => {
    const { ask, authenticator, log } = createScene()
    for (let count = 0; count < 10; count++) {
      await assert.rejects(ask(`ak_nonsense${count}`), isRefused)
      await assert.rejects(async () => authenticator.principal(undefined, '192.0.2.1'), isRefused)
    }
    assert.equal(log.lookUps, 0)
    assert.equal((await ask()).id, 'key_1')
  })
  it('looks up a bad key once, however often it is tried, and lets others of its address in', async () => {
    const { ask, log } = createScene()
    const bad = mintSecret('ak', systemRandom)
    for (let count = 0; count < 10; count++) await assert.rejects(ask(bad), isRefused)
    assert.equal(log.lookUps, 1)
    assert.equal((await ask()).id, 'key_1')
  })
  it('takes a token for the project its claims name, and for no other organization’s', async () => {
    const claims = {
      subject: 'u1',
      organizationId: 'org_1',
      projectId: 'proj_1',
      scope: ['gateway:read', 'nonsense'],
      expiresAtMs: 2_000_000,
    }
    const known = await createScene({}, async () => claims).ask('a.b.c')
    assert.deepEqual([known.kind, known.projectId, [...known.permissions]], ['jwt', 'proj_1', ['gateway:read']])
    await assert.rejects(createScene({}, async () => ({ ...claims, organizationId: 'org_2' })).ask('a.b.c'), isRefused)
  })
})

describe('a change that is followed by an outage', () => {
  const away = new Fault('unavailable', 'storage_unavailable', 'away')
  const isAway = (error: unknown): boolean => error === away

  it('leaves the keys of its organization usable for five minutes, and no longer', async () => {
    const { ask, changes, storage, advance } = createScene()
    await ask()
    changes.announce('org_1')
    storage.outage = away
    assert.equal((await ask()).id, 'key_1')
    advance(5 * 60_000 - 1)
    assert.equal((await ask()).id, 'key_1')
    advance(1)
    await assert.rejects(ask(), isAway)
  })
  it('rejects the key that it revoked, and those of a project that it archived', async () => {
    for (const revoked of ['key_1', 'proj_1']) {
      const { ask, changes, storage } = createScene()
      await ask()
      changes.announce('org_1', [revoked])
      storage.outage = away
      await assert.rejects(ask(), isRefused)
      await assert.rejects(ask(), isRefused)
    }
  })
  it('rejects a revoked key also where it was being read while it was revoked', async () => {
    const { ask, changes, storage } = createScene()
    const pending = ask()
    changes.announce('org_1', ['key_1'])
    await pending.catch(() => {})
    storage.outage = away
    await assert.rejects(ask(), isRefused)
  })
  it('makes no expired key usable again', async () => {
    const { ask, changes, storage, advance } = createScene({ expiresAtMs: 1_005_000 })
    await ask()
    changes.announce('org_1')
    storage.outage = away
    advance(5_000)
    await assert.rejects(ask(), isAway)
  })
  it('makes no key usable that was found to be revoked before it', async () => {
    const { ask, changes, storage, revoke } = createScene()
    await ask()
    revoke()
    changes.announce('org_1')
    await assert.rejects(ask(), isRefused)
    storage.outage = away
    await assert.rejects(ask(), isRefused)
  })
  it('lets in no key that was not known', async () => {
    const { ask, storage } = createScene()
    storage.outage = away
    await assert.rejects(ask(), isAway)
  })
  it('leaves tokens of a known project usable, which are checked without the database', async () => {
    const claims = { subject: 's', organizationId: 'org_1', projectId: 'proj_1', scope: [], expiresAtMs: 9_000_000 }
    const { ask, changes, storage, advance } = createScene({}, async () => claims)
    await ask('a.b.c')
    changes.announce('org_1')
    storage.outage = away
    advance(120_000)
    assert.equal((await ask('a.b.c')).projectId, 'proj_1')
    assert.equal((await ask('d.e.f')).projectId, 'proj_1')
    changes.announce('org_1', ['proj_1'])
    await assert.rejects(ask('a.b.c'), isRefused)
  })
})

describe('a key while the server secret is rotated', () => {
  const settle = () => new Promise((resolve) => setImmediate(resolve))

  it('is found under the secret before, and stored under the new one at its first use', async () => {
    const { keyring, rows, ask } = createScene()
    const [[oldDigest, old] = ['', undefined]] = rows
    keyring.use({ current: 'the new server secret', previous: 'the server secret' })
    assert.equal((await ask()).id, 'key_1')
    await settle()
    const [[digest, found] = ['', undefined]] = rows
    assert.notEqual(digest, oldDigest)
    assert.deepEqual([old?.secretId === found?.secretId, found?.secretId], [false, keyring.current().id])
    keyring.use({ current: 'the new server secret' })
    assert.equal((await ask()).id, 'key_1')
  })

  it('that was known before is stored again, too', async () => {
    const { keyring, rows, ask } = createScene()
    await ask()
    keyring.use({ current: 'the new server secret', previous: 'the server secret' })
    await ask()
    await settle()
    assert.equal([...rows.values()][0]?.secretId, keyring.current().id)
  })

  it('is found under the secret to come, and left as the other node made it', async () => {
    const { keyring, rows, ask } = createScene()
    const before = [...rows.keys()]
    keyring.use({ current: 'the secret of this node', next: 'the server secret' })
    assert.equal((await ask()).id, 'key_1')
    await settle()
    assert.deepEqual([...rows.keys()], before)
  })

  it('stops working with the secret that it was made under', async () => {
    const { keyring, ask } = createScene()
    keyring.use({ current: 'the new server secret' })
    await assert.rejects(ask(), { code: 'invalid_api_key' })
  })

  it('of a time before digests were marked is marked at its first use', async () => {
    const { keyring, rows, ask } = createScene()
    for (const [digest, found] of rows) rows.set(digest, { ...found, secretId: null })
    await ask()
    await settle()
    assert.equal([...rows.values()][0]?.secretId, keyring.current().id)
  })
})
