import {
  chainsOfOtherKeys,
  publishKeys,
  signChains,
  type CheckpointParts,
} from '../../adapters/stores/sql/audit/checkpoints.ts'
import type { Database } from '../../adapters/stores/sql/database.ts'
import {
  countEncrypted,
  encryptAgain,
  keepTextsKey,
  keysBySecret,
  keysOfOtherSecrets,
  type StoredEncryptions,
} from '../../adapters/stores/sql/secret-rotation.ts'
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { AuditReads } from '../../domain/audit/log.ts'
import { createKeyringEncryption } from '../../domain/server-secret/keyring-encryption.ts'
import type { Keyring } from '../../domain/server-secret/keyring.ts'
import type { RotationStore } from '../../domain/server-secret/secret-rotation.ts'
import type { AuditParts } from '../audit-parts.ts'

/** Each purpose has a key of its own. */
export const createStoredEncryptions = (keyring: Keyring, random: Random): StoredEncryptions => ({
  keptReplies: createKeyringEncryption(keyring, 'kept replies', random),
  exportSecrets: createKeyringEncryption(keyring, 'export secrets', random),
  alertSecrets: createKeyringEncryption(keyring, 'alert secrets', random),
  textsKeys: createKeyringEncryption(keyring, 'audit texts keys', random),
  ledgerBalances: createKeyringEncryption(keyring, 'ledger balances', random),
  upstreamSecrets: createKeyringEncryption(keyring, 'upstream secrets', random),
  caseTexts: createKeyringEncryption(keyring, 'case texts', random),
  appealTexts: createKeyringEncryption(keyring, 'appeal texts', random),
  replaySample: createKeyringEncryption(keyring, 'replay sample', random),
})

export type RotationStoreParts = {
  readonly database: Database
  readonly clock: Clock
  readonly keyring: Keyring
  readonly encryptions: StoredEncryptions
  readonly audit: AuditParts & Pick<CheckpointParts, 'signed'>
  readonly events: AuditReads
}

const chainsPerStep = 200
/** More audit logs than an installation has. */
const allChains = 1_000_000

/** The database side of a rotation: keys, encrypted values and audit logs of each server secret. */
export function rotationStore({
  database,
  clock,
  keyring,
  encryptions,
  audit,
  events,
}: RotationStoreParts): RotationStore {
  const currentKeyId = (): string => audit.keys()[0]?.keyId ?? ''
  const previous = () => {
    const at = keyring.accepted().findIndex(({ role }) => role === 'previous')
    return { secret: keyring.accepted()[at], key: audit.keys()[at] }
  }
  const checkpoints = { database, clock, ...audit, onRewritten: () => {}, onLate: () => {} }
  return {
    keysBySecret: () => keysBySecret(database, clock.nowMs()),
    keysOfOtherSecrets: (secretIds, limit) => keysOfOtherSecrets(database, { secretIds, nowMs: clock.nowMs(), limit }),
    countEncrypted: () => countEncrypted(database, encryptions),
    countOtherAuditLogs: async () => (await chainsOfOtherKeys(database, currentKeyId(), allChains)).length,
    async isPreviousTextsKeyStored() {
      const { key } = previous()
      return (await events.keys()).some(({ id, textsKey }) => id === key?.keyId && textsKey !== null)
    },
    async moveToCurrent() {
      await publishKeys(checkpoints)
      const { secret, key } = previous()
      if (secret && key) {
        const text = Buffer.from(secret.key('audit texts')).toString('base64')
        await keepTextsKey(database, key.keyId, encryptions.textsKeys.encrypt(text, key.keyId))
      }
      await encryptAgain(database, encryptions)
      for (;;) {
        const chains = await chainsOfOtherKeys(database, currentKeyId(), chainsPerStep)
        if (chains.length === 0) return
        await signChains(chains, checkpoints)
      }
    },
  }
}
