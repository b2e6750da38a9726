import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Resolve } from '../network/guarded-agent.ts'
import { createSinkAddressCheck } from './address-check.ts'

const resolvesTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
const unresolved: Resolve = () => Promise.reject(new Error('ENOTFOUND'))
const neverResolves: Resolve = () => new Promise(() => {})
const mustNotResolve: Resolve = (name) => assert.fail(`looked up ${name}`)

type Case = { readonly url: string; readonly resolve?: Resolve; readonly allow?: readonly string[] }

const check = ({ url, resolve = mustNotResolve, allow = [] }: Case): Promise<string | undefined> =>
  createSinkAddressCheck({ allowNetworks: allow, resolve, timeoutMs: 20 })(new URL(url))

const notPublic = /^does not lead to a public address\..*exports\.allow_addresses/
const notHttps = /^must begin with https:\/\/\..*exports\.allow_addresses/
const wrongPort = /^must have port 443, 4318, 8088, 9200 or 9243\..*exports\.allow_addresses/

describe('the address of a sink is rejected without a lookup if it', () => {
  const cases: [title: string, checked: Case, problem: RegExp][] = [
    ['is a private address', { url: 'https://10.0.0.1' }, notPublic],
    ['is loopback, also with a wrong port and plain http', { url: 'http://127.0.0.1:9' }, notPublic],
    ['is loopback in IPv6', { url: 'https://[::1]' }, notPublic],
    ['is an IPv4 address in IPv6', { url: 'https://[::ffff:127.0.0.1]' }, notPublic],
    ['is link-local', { url: 'https://169.254.169.254' }, notPublic],
    ['is an address in another notation', { url: 'https://0x7f.1' }, notPublic],
    ['is a public address with plain http', { url: 'http://1.1.1.1' }, notHttps],
    ['is a name with plain http', { url: 'http://logs.test' }, notHttps],
    ['is a public address with another port', { url: 'https://1.1.1.1:22' }, wrongPort],
    ['is a name with another port', { url: 'https://logs.test:8443' }, wrongPort],
    ['is outside of the allowed networks', { url: 'https://10.2.0.1', allow: ['10.1.0.0/16'] }, notPublic],
  ]
  for (const [title, checked, problem] of cases) {
    it(title, async () => assert.match((await check(checked)) ?? 'accepted', problem))
  }
})

describe('the name of a sink is rejected if it', () => {
  const cases: [title: string, checked: Case, problem: RegExp][] = [
    [
      'resolves to private addresses',
      { url: 'https://in.test', resolve: resolvesTo('10.0.0.1', 'fd00::1') },
      notPublic,
    ],
    [
      'resolves to a private address besides a public one, as delivery would not connect to it',
      { url: 'https://mixed.test', resolve: resolvesTo('1.1.1.1', '10.0.0.1') },
      notPublic,
    ],
    [
      'resolves to a public address, with plain http, although a network is allowed',
      { url: 'http://logs.test', resolve: resolvesTo('1.1.1.1'), allow: ['10.1.0.0/16'] },
      notHttps,
    ],
  ]
  for (const [title, checked, problem] of cases) {
    it(title, async () => {
      const message = (await check(checked)) ?? 'accepted'
      assert.match(message, problem)
      assert.doesNotMatch(message, /10\.0\.0\.1|1\.1\.1\.1|fd00/)
    })
  }
})

describe('the address of a sink is accepted if it', () => {
  const lab = ['10.1.0.0/16']
  const cases: [title: string, checked: Case][] = [
    ['is a public address', { url: 'https://1.1.1.1:8088' }],
    ['is in an allowed network, with plain http and any port', { url: 'http://10.1.2.3:81', allow: lab }],
    ['is a name with a public address', { url: 'https://logs.test', resolve: resolvesTo('1.1.1.1', '2606:4700::1') }],
    [
      'is a name in an allowed network, with plain http and any port',
      { url: 'http://in.test:81', resolve: resolvesTo('10.1.2.3'), allow: lab },
    ],
    ['does not resolve yet', { url: 'https://later.test', resolve: unresolved }],
    [
      'does not resolve yet, and could be in an allowed network',
      { url: 'http://later.test', resolve: unresolved, allow: lab },
    ],
    ['has no address', { url: 'https://empty.test', resolve: resolvesTo() }],
    ['does not resolve in time', { url: 'https://slow.test', resolve: neverResolves }],
  ]
  for (const [title, checked] of cases) {
    it(title, async () => assert.equal(await check(checked), undefined))
  }
})

it('two lookups run at once, also if they hang', async () => {
  let running = 0
  const resolve: Resolve = () => {
    running += 1
    return neverResolves('')
  }
  const checkAll = createSinkAddressCheck({ allowNetworks: [], resolve, timeoutMs: 20 })
  const names = Array.from({ length: 5 }, (_, index) => new URL(`https://slow-${index}.test`))
  assert.deepEqual(
    await Promise.all(names.map(checkAll)),
    names.map(() => undefined),
  )
  assert.equal(running, 2)
})
