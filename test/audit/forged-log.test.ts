import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createSigningKey, keyIdOf } from '../../src/domain/audit/chain/checkpoint.ts'
import type { ChainedDocument } from '../../src/domain/audit/event/document.ts'
import { deriveKey } from '../../src/domain/server-secret/keyring.ts'
import { auditCommand, auditFolders, auditSecret } from '../support/audit-folder.ts'
import { forgeLog, plantKey, untrustedKey } from '../support/forge-log.ts'

const expectedKeys =
  'It must contain public keys: the output of "gatehouse audit keys", with or without --json, or PEM.'

let folders: Awaited<ReturnType<typeof auditFolders>>
before(async () => void (folders = await auditFolders()))
after(() => folders[Symbol.asyncDispose]())

describe('a log that was rewritten with access to the database but without the server secret', () => {
  it('is not whole if it was signed with a key that only the database lists', async () => {
    const { run, change } = folders.copy('signed-by-another-key')
    const key = untrustedKey()
    await change(async (database) => {
      await forgeLog(database, { change: withoutSevenAndTwelveAltered, key })
      await plantKey(database, { id: key.keyId, publicKey: key.publicKey })
    })
    const [code, text] = await run('verify')
    assert.equal(code, 1, text)
    assert.match(text, /^Nothing is proven: no event was signed with a key derived from the server secret\.$/m)
    assert.match(text, new RegExp(`^Tampering: events 1 to 40 are signed for with the key ${key.keyId}`, 'm'))
  })

  it('is not whole if another key is stored under the id of the trusted one', async () => {
    const { run, change } = folders.copy('replaced-key')
    const untrusted = untrustedKey()
    const { keyId } = ownKey()
    await change(async (database) => {
      await forgeLog(database, { change: withoutSevenAndTwelveAltered, key: { ...untrusted, keyId } })
      await plantKey(database, { id: keyId, publicKey: untrusted.publicKey })
    })
    const [code, text] = await run('verify')
    assert.equal(code, 1, text)
    assert.match(text, /^The log is not whole: the checkpoint of event 19 has an invalid signature\.$/m)
    assert.match(
      text,
      new RegExp(`^Tampering: the database has another public key under the id of the key ${keyId}`, 'm'),
    )
  })

  it('is not whole if every checkpoint was removed', async () => {
    const { run, change } = folders.copy('unsigned')
    await change((database) => forgeLog(database, { change: withoutSevenAndTwelveAltered }))
    const [code, text] = await run('verify')
    assert.equal(code, 1, text)
    assert.match(text, /^Not signed: events 1 to 39, for longer than a running service takes\./m)
  })

  it('does not change the keys that the service prints for pinning', async () => {
    const { run, change } = folders.copy('planted')
    const untrusted = untrustedKey()
    await change((database) => plantKey(database, { id: untrusted.keyId, publicKey: untrusted.publicKey }))
    const { data: keys }: { data: { id: string }[] } = JSON.parse((await run('keys', '--json'))[1])
    assert.deepEqual(
      keys.map(({ id }) => id),
      [ownKey().keyId],
    )
    // Nothing is signed with the planted key, so the log stays proven.
    assert.equal((await run('verify'))[0], 0)
  })
})

describe('pinned keys', () => {
  it('verify the log that they signed, in every output format of keys', async () => {
    const { run, folder } = folders.copy('pinned')
    const files = [await run('keys'), await run('keys', '--json')].map(([, text], at) => {
      const file = join(folder, `keys-${at}`)
      writeFileSync(file, text)
      return file
    })
    for (const file of files) {
      const [code, text] = await run('verify', '--keys', file)
      assert.match(text, /^Proven: events 1 to 41, .*, pinned in the file of --keys\.$/m)
      assert.equal(code, 0)
    }
  })

  it('replace the key of the server secret: with another key nothing is proven', async () => {
    const { run, folder } = folders.copy('other-pin')
    const file = join(folder, 'other.pem')
    writeFileSync(file, untrustedKey().publicKey.export({ type: 'spki', format: 'pem' }))
    const [code, text] = await run('verify', '--keys', file)
    assert.match(text, /^Nothing is proven: no event was signed with a key pinned in the file of --keys\.$/m)
    assert.equal(code, 1)
  })

  it('verify a log of an earlier server secret', async () => {
    const { run, folder } = folders.copy('earlier-secret')
    const [, keys] = await run('keys')
    const file = join(folder, 'keys.pem')
    writeFileSync(file, keys)
    const other = auditCommand(folder, { GATEHOUSE_SECRET: 'quite another server secret' })
    const [code, text] = await other('verify')
    assert.match(text, /If it belongs to an earlier server secret, pin it with --keys/)
    assert.equal(code, 1)
    assert.equal((await other('verify', '--keys', file))[0], 0)
  })

  it('are rejected if the file contains none', async () => {
    const { run, folder } = folders.copy('no-pin')
    const file = join(folder, 'empty')
    writeFileSync(file, '')
    const [code, text] = await run('verify', '--keys', file)
    assert.deepEqual([code, text], [1, `The file of --keys, ${file}, contains no public key. ${expectedKeys}`])
  })

  it('are rejected with the name of the file if it is missing or a folder', async () => {
    const { run, folder } = folders.copy('missing-pin')
    for (const [path, reason] of [
      [join(folder, 'missing'), 'there is no such file'],
      [folder, 'it is a folder'],
    ]) {
      const [code, text] = await run('verify', '--keys', path ?? '')
      assert.deepEqual([code, text], [1, `Cannot read the file of --keys, ${path}: ${reason}. ${expectedKeys}`])
    }
  })

  it('are rejected with the name of the file if one of them is broken or of another type', async () => {
    const { run, folder } = folders.copy('broken-pin')
    const { publicKey } = generateKeyPairSync('x25519')
    const broken = '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n'
    for (const pem of [broken, publicKey.export({ type: 'spki', format: 'pem' })]) {
      const file = join(folder, 'broken')
      writeFileSync(file, pem)
      const [code, text] = await run('verify', '--keys', file)
      const title = `Public key 1 in the file of --keys, ${file}, is not an Ed25519 key in PEM. ${expectedKeys}`
      assert.deepEqual([code, text], [1, title])
    }
  })
})

function ownKey() {
  const key = createSigningKey(deriveKey(auditSecret, 'audit checkpoints'))
  return { ...key, keyId: keyIdOf(key.publicKey) }
}

function withoutSevenAndTwelveAltered(document: ChainedDocument) {
  const { sequence } = document.metadata
  if (sequence === 7) return undefined
  const { attestation_list: _, ...kept } = document
  return sequence === 12 ? { ...kept, message: 'Nothing happened.' } : kept
}
