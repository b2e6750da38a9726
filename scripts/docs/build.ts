// Writes the pages of `/docs` to a folder. `scripts/build-docs.mjs` runs it when its sources changed.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createApp } from '../../src/app.ts'
import { describedPorts, portName } from '../../src/app/listen-addresses.ts'
import { checkConfig } from '../../src/config/config.ts'
import { createSite } from './site.ts'

const [target = 'docs/dist'] = process.argv.slice(2)
// The reference is generated from the routes of an app; an app on an empty folder has all of them.
const data = mkdtempSync(join(tmpdir(), 'gatehouse-docs-'))
try {
  const config = { storage: { data_dir: data }, moderation: { encoder: 'off' }, log: { level: 'silent' } }
  await using app = await createApp(checkConfig(config), {})
  const ports = describedPorts.map((served) => ({ name: portName(served), families: app.familiesOf(served) }))
  for (const [file, text] of createSite(ports)) {
    const path = join(target, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
} finally {
  rmSync(data, { recursive: true, force: true })
}
