import { Fault } from '../../base/fault.ts'
import { plural } from '../../base/plural.ts'
import type { Keyring, ServerSecrets } from './keyring.ts'

/** The progress of a rotation of the server secret. */
export type RotationStatus = {
  readonly secretId: string
  readonly isInDataFolder: boolean
  readonly previousId: string | null
  readonly nextId: string | null
  readonly needsPrevious: NeedsPrevious
  /** Keys and encrypted values of a secret that the service does not have. */
  readonly lost: { readonly keys: number; readonly encryptedValues: number }
  readonly isPreviousNeeded: boolean
  /** The keys that are counted above, at most `maxNamedKeys` of them. */
  readonly keysNeedingPrevious: readonly SecretKey[]
  readonly lostKeys: readonly SecretKey[]
}

/** A key and the server secret of its digest; null if that is unknown. */
export type SecretKey = {
  readonly id: string
  readonly name: string
  readonly organizationId: string
  readonly secretId: string | null
}

export const maxNamedKeys = 50

/** What stops working without the previous secret. */
export type NeedsPrevious = {
  /** Keys that were not used since the rotation. A key gets a digest of the current secret at its next use. */
  readonly keys: number
  readonly encryptedValues: number
  /** Organizations whose audit log has no checkpoint of the current secret yet. */
  readonly auditLogs: number
  /** 1 until the key that checks texts of earlier audit events is stored under the current secret. */
  readonly auditTexts: number
}

/** What a rotation reads and writes in the database. */
export type RotationStore = {
  /** How many keys have a digest of each secret; null if the secret was not stored. */
  keysBySecret(): Promise<ReadonlyMap<string | null, number>>
  /** Keys with a digest of another secret than these. */
  keysOfOtherSecrets(secretIds: readonly string[], limit: number): Promise<readonly SecretKey[]>
  countEncrypted(): Promise<{ readonly otherSecret: number; readonly unreadable: number }>
  /** Audit logs whose latest checkpoint is of another secret than the current one. */
  countOtherAuditLogs(): Promise<number>
  isPreviousTextsKeyStored(): Promise<boolean>
  /** Encrypts and signs everything again that is not of the current secret yet. May run again after a crash. */
  moveToCurrent(): Promise<void>
}

/** The secret files of the data folder. */
export type SecretFiles = {
  /** Creates a new secret and stores the current one as the previous. */
  replace(): ServerSecrets
  /** Deletes the previous secret. */
  removePrevious(): ServerSecrets
}

export type SecretRotationParts = {
  readonly keyring: Keyring
  readonly store: RotationStore
  /** Undefined if the secret comes from the configuration. */
  readonly files: SecretFiles | undefined
}

export type SecretRotation = ReturnType<typeof createSecretRotation>

export function createSecretRotation({ keyring, store, files }: SecretRotationParts) {
  const withRole = (role: 'previous' | 'next') => keyring.accepted().find((secret) => secret.role === role)

  async function status(): Promise<RotationStatus> {
    const [previous, next] = [withRole('previous'), withRole('next')]
    const keys = await store.keysBySecret()
    const known = new Set(keyring.accepted().map((secret) => secret.id))
    const lostKeys = [...keys].filter(([secretId]) => secretId !== null && !known.has(secretId))
    const encrypted = await store.countEncrypted()
    const needsPrevious = {
      keys: previous ? (keys.get(previous.id) ?? 0) + (keys.get(null) ?? 0) : 0,
      encryptedValues: encrypted.otherSecret,
      auditLogs: previous ? await store.countOtherAuditLogs() : 0,
      auditTexts: previous && !(await store.isPreviousTextsKeyStored()) ? 1 : 0,
    }
    const isOfPrevious = ({ secretId }: SecretKey): boolean => secretId === null || secretId === previous?.id
    const usable = [keyring.current().id, ...(next ? [next.id] : [])]
    const others = await store.keysOfOtherSecrets(usable, maxNamedKeys)
    return {
      secretId: keyring.current().id,
      isInDataFolder: files !== undefined,
      previousId: previous?.id ?? null,
      nextId: next?.id ?? null,
      needsPrevious,
      lost: { keys: lostKeys.reduce((sum, [, count]) => sum + count, 0), encryptedValues: encrypted.unreadable },
      isPreviousNeeded: Object.values(needsPrevious).some((count) => count > 0),
      keysNeedingPrevious: previous ? others.filter(isOfPrevious) : [],
      lostKeys: others.filter((key) => key.secretId !== null && !known.has(key.secretId)),
    }
  }

  return {
    status,

    /** Moves everything to the current secret. Creates a new secret first if it is in the data folder and no rotation runs. */
    async rotate(): Promise<RotationStatus> {
      if (!withRole('previous')) {
        if (!files) throw notInDataFolder()
        keyring.use(files.replace())
      }
      await store.moveToCurrent()
      return status()
    },

    /** Removes the previous secret from the data folder. With `force`, keys that still need it stop working. */
    async retire(force: boolean): Promise<RotationStatus> {
      if (!withRole('previous')) throw invalid('There is no previous secret to retire.')
      const before = await status()
      if (before.isPreviousNeeded && !force) throw invalid(stillNeeded(before))
      if (!files) {
        const advice = before.isPreviousNeeded ? `${stillNeeded(before)} To remove it nevertheless, remove` : 'Remove'
        throw invalid(`${advice} GATEHOUSE_SECRET_PREVIOUS from every node and restart them.`)
      }
      keyring.use(files.removePrevious())
      return status()
    },
  }
}

const invalid = (message: string): Fault => new Fault('validation', 'invalid_parameter', message)

const notInDataFolder = (): Fault =>
  invalid(
    'The secret comes from the configuration, which this command cannot change: set GATEHOUSE_SECRET to the new one and GATEHOUSE_SECRET_PREVIOUS to the current one on every node, restart them, then run this again (docs/guide/secrets.md).',
  )

function stillNeeded({ needsPrevious: { keys, encryptedValues, auditLogs, auditTexts } }: RotationStatus): string {
  if (encryptedValues + auditLogs + auditTexts > 0) return 'The rotation is not complete: run gatehouse secret rotate.'
  return `${plural(keys, 'key')} ${keys === 1 ? 'was' : 'were'} not used since the rotation: without the previous secret, requests with such a key fail. Use or revoke these keys first, or force it.`
}
