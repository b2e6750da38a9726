import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseRedisUrl } from './address.ts'

describe('the URL of Redis', () => {
  it('names one server, whose URL the client reads itself', () => {
    const { kind, hosts } = parseRedisUrl('rediss://user:p%40ss@cache.example/3')
    assert.deepEqual([kind, hosts], ['server', [{ host: 'cache.example', port: 6_379 }]])
  })

  it('names sentinels, the primary that they watch, its database, and the credentials of both', () => {
    const url = 'redis+sentinel://user:p%40ss@one.example,[::1]:5000/main/2?sentinel_password=other'
    const sentinels = [
      { host: 'one.example', port: 26_379 },
      { host: '::1', port: 5_000 },
    ]
    assert.deepEqual(parseRedisUrl(url), {
      kind: 'sentinel',
      hosts: sentinels,
      options: { username: 'user', password: 'p@ss', db: 2, sentinels, name: 'main', sentinelPassword: 'other' },
    })
  })

  it('uses TLS for sentinels and servers', () => {
    const { options } = parseRedisUrl('rediss+sentinel://:secret@one.example/main')
    const { tls, sentinelTLS, enableTLSForSentinelMode, password, username } = options
    assert.deepEqual(
      [tls, sentinelTLS, enableTLSForSentinelMode, password, username],
      [{}, {}, true, 'secret', undefined],
    )
  })

  it('names some servers of a cluster', () => {
    assert.deepEqual(parseRedisUrl('rediss+cluster://user:a:b@one.example:7000,two.example'), {
      kind: 'cluster',
      hosts: [
        { host: 'one.example', port: 7_000 },
        { host: 'two.example', port: 6_379 },
      ],
      options: { username: 'user', password: 'a:b', tls: {} },
    })
  })

  it('may have a password with an @ in it, which is no part of the host', () => {
    for (const [url, host] of [
      ['redis://:p@ss@cache.example:6380', 'cache.example'],
      ['redis+cluster://u:p@ss@one.example:7000', 'one.example'],
    ] as const)
      assert.equal(parseRedisUrl(url).hosts[0]?.host, host)
  })

  it('is rejected if its hosts cannot be read, instead of connecting to this machine', () => {
    for (const url of ['redis+sentinel://s1:26379;s2:26379/main', 'redis+cluster://one.example:port'])
      assert.throws(() => parseRedisUrl(url), /separate several hosts by commas/)
  })
})
