import packageFile from '../../../package.json' with { type: 'json' }
import { archiveStore } from '../../adapters/stores/sql/audit/archived-objects.ts'
import { auditTexts } from '../../adapters/stores/sql/audit/texts.ts'
import { verificationStore } from '../../adapters/stores/sql/audit/verifications.ts'
import { createVerificationAdministration } from '../../domain/audit/verification/create.ts'
import { archiveRoutes } from '../../http/admin/audit-logs/archive-routes.ts'
import { auditExportRoute } from '../../http/admin/audit-logs/export.ts'
import { auditProofRoute } from '../../http/admin/audit-logs/proof/route.ts'
import { auditLogRoutes } from '../../http/admin/audit-logs/routes.ts'
import { serverKeysRoute } from '../../http/admin/audit-logs/server-keys-route.ts'
import { verificationRoutes } from '../../http/admin/audit-logs/verification-routes.ts'
import { auditLogOperatorRoutes } from '../../http/operator/audit-log.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import { createAuditVerifier } from '../audit-verifier.ts'
import type { Feature, FeatureParts } from './feature.ts'

/** The audit log: its events, their export, archive and verification, and the erasure of texts. */
export function createAuditLog(parts: FeatureParts): Feature {
  const { clock, ids, stores, encoding } = parts
  const { audit, reading, reportedEvents: events } = stores
  const own = stores.of((tx) => ({ verifications: verificationStore(tx), events: stores.eventsIn(tx) }))
  const erasing = stores.of((tx) => ({ texts: auditTexts(tx) }))
  const reads = { ...own.reads, events, archive: archiveStore(reading) }
  const verifications = createVerificationAdministration({ ids, clock })
  const verifyAuditLog = createAuditVerifier(parts)
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own, reads })
      return [
        ...auditLogRoutes(routes, audit),
        auditExportRoute({ ...surface, readPage: (input) => encoding.run('auditExport', input) }),
        auditProofRoute({
          ...surface,
          reads,
          audit,
          version: packageFile.version,
          readPage: (input) => encoding.run('auditProof', input),
        }),
        ...verificationRoutes(routes, verifications),
        ...archiveRoutes(routes),
      ]
    },
    operator(surface) {
      const operatorReads = { ...erasing.reads, events }
      const routes = createResourceRoutes({ ...surface, ...erasing, reads: operatorReads })
      return [
        ...auditLogOperatorRoutes(routes, {
          reads: operatorReads,
          verifyAuditLog,
          readHashedEvents: (input) => encoding.run('hashedEvents', input),
        }),
        serverKeysRoute(events, audit),
      ]
    },
  }
}
