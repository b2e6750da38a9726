import { resolve } from 'node:path'
import { Agent } from 'undici'
import { folderArchive } from '../adapters/archive/folder.ts'
import { s3Archive } from '../adapters/archive/s3.ts'
import { createRequest } from '../adapters/network/request.ts'
import type { Archive } from '../adapters/stores/sql/audit/archive.ts'
import { ArchiveFailed, trimChains, type RetentionParts } from '../adapters/stores/sql/audit/retention.ts'
import { ConfigError, type Config } from '../config/config.ts'
import type { ArchiveTarget } from '../domain/audit/archive/target.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { AuditParts } from './audit-parts.ts'

const connectTimeoutMs = 10_000

export type Trimming = {
  /** Archives and removes expired events. */
  trim(): Promise<unknown>
  /** That the last run could not archive events; undefined if it could. */
  archiveProblem(): string | undefined
}

/** Retention of the audit log, with the archive that the configuration names. */
export function openTrimming(
  parts: Infrastructure & { readonly audit: Pick<AuditParts, 'keys'> },
  retention: Omit<RetentionParts, 'archive'>,
): Trimming {
  const archive = openArchive(parts)
  let isFailing = false
  parts.metrics.gauge(
    'gatehouse_audit_archive_failing',
    'Whether expired audit events are kept because they could not be archived: 1 if so.',
    () => (isFailing ? 1 : 0),
  )
  return {
    // Anybody can read it, so it names neither organizations nor paths. The log of the job does.
    archiveProblem: () =>
      isFailing ? 'expired events cannot be archived, so they are kept; the log says why' : undefined,
    async trim() {
      try {
        await trimChains({ ...retention, archive })
        isFailing = false
      } catch (error) {
        if (error instanceof ArchiveFailed) isFailing = true
        throw error
      }
    },
  }
}

function openArchive(parts: Infrastructure & { readonly audit: Pick<AuditParts, 'keys'> }): Archive | undefined {
  const { config, ids, audit, metrics } = parts
  const events = metrics.counter('gatehouse_audit_archived_events_total', 'Audit events written to the archive.', {})
  const target = config.audit.archive && openTarget(config.audit.archive, parts)
  return target && { target, ids, keys: audit.keys, onArchived: (count) => events.add({}, count) }
}

type ArchiveSettings = NonNullable<Config['audit']['archive']>
type S3Settings = NonNullable<ArchiveSettings['s3']>

function openTarget({ folder, s3 }: ArchiveSettings, parts: Infrastructure): ArchiveTarget {
  if (folder !== undefined && s3 === undefined) return folderArchive(resolve(folder), parts.ids)
  if (s3 !== undefined && folder === undefined) return openS3(s3, parts)
  throw new ConfigError(['audit.archive: name either a folder or s3'])
}

function openS3(s3: S3Settings, { config, clock, live, network, built }: Infrastructure): ArchiveTarget {
  const { prefix = '', kms_key_id: kmsKeyId, sse } = s3
  if (prefix.startsWith('/') || prefix.includes('..'))
    throw new ConfigError(['audit.archive.s3.prefix: must not begin with a slash or contain ".."'])
  if (kmsKeyId !== undefined && sse !== 'aws:kms')
    throw new ConfigError(['audit.archive.s3.kms_key_id: belongs to sse aws:kms'])
  const [path, auth] = s3.auth ? ['audit.archive.s3.auth', s3.auth] : ['exports.aws', config.exports.aws]
  if (!auth) throw new ConfigError(['audit.archive.s3.auth: is missing, and so is exports.aws'])
  const agent = new Agent({ connect: { timeout: connectTimeoutMs }, allowH2: false })
  built.defer(() => agent.destroy())
  return s3Archive(s3, {
    request: network(createRequest(agent)),
    clock,
    credentials: () => ({
      accessKeyId: live.read(`${path}.access_key_id`, auth.access_key_id),
      secretAccessKey: live.read(`${path}.secret_access_key`, auth.secret_access_key),
      sessionToken: live.read(`${path}.session_token`, auth.session_token),
    }),
  })
}
