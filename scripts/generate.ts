import { writeFileSync } from 'node:fs'
import { chartFiles } from './generate/chart.ts'
import { configurationPage } from './generate/configuration.ts'
import { errorsPage } from './generate/errors.ts'

/** The files that are generated from the code. `test/generated.test.ts` fails if one of them is stale. */
export const generated: Readonly<Record<string, () => string>> = {
  'docs/configuration.md': configurationPage,
  'docs/errors.md': errorsPage,
  ...chartFiles(),
}

if (import.meta.main) {
  for (const [file, make] of Object.entries(generated)) {
    writeFileSync(new URL(`../${file}`, import.meta.url), make())
    console.log(`wrote ${file}`)
  }
}
