import packageFile from '../../../package.json' with { type: 'json' }
import { createSecretRotation } from '../../domain/server-secret/secret-rotation.ts'
import { systemRoute } from '../../http/admin/system/route.ts'
import { secretRoutes } from '../../http/operator/secret.ts'
import { serverRoute } from '../../http/operator/server.ts'
import { storageRoute } from '../../http/operator/storage.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import { rotationStore } from '../storage/secret-rotation.ts'
import { secretFilesOf } from '../storage/server-secrets.ts'
import type { InstallationParts } from '../installation-parts.ts'
import type { Feature, FeatureParts } from './feature.ts'

/** The installation: its nodes, settings, storage and secret. */
export function createInstallation(
  { config, database, clock, random, keyring, stores }: FeatureParts,
  { node, readSystem, readStorage }: InstallationParts,
): Feature {
  const { version } = packageFile
  const own = stores.of(() => ({}))
  const isSystemVisible = config.administration.system_visible
  const { audit, encryptions, auditLog: events } = stores
  const secretRotation = createSecretRotation({
    keyring,
    files: secretFilesOf(config, random),
    store: rotationStore({ database, clock, keyring, encryptions, audit, events }),
  })
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own })
      return [systemRoute(routes, { node, readSystem, version, isSystemVisible })]
    },
    operator: ({ publicUrl }) => [
      ...secretRoutes(secretRotation),
      serverRoute({ version, publicUrl }),
      storageRoute(readStorage),
    ],
  }
}
