/** The metrics of one process in the Prometheus text format. */
export type ProcessMetrics = { readonly worker: number; readonly text: string }

type Family = { readonly heading: string; readonly samples: string[] }

/**
 * The metrics of several processes as one text. Every sample gets the label `worker`. The samples of a metric are together, as the
 * format requires, under the heading of the first process that has it.
 */
export function mergeMetrics(processes: readonly ProcessMetrics[]): string {
  const families = new Map<string, Family>()
  for (const { worker, text } of processes)
    for (const [, name = '', heading = '', samples = ''] of text.matchAll(familyPattern)) {
      const family = families.get(name) ?? { heading, samples: [] }
      families.set(name, family)
      if (samples !== '') family.samples.push(withLabel(samples, worker))
    }
  return [...families.values()].map(({ heading, samples }) => heading + samples.join('')).join('')
}

/** Two lines of heading, then the samples until the next heading. */
const familyPattern = /(?<=^|\n)(?=# HELP (\S+))(# HELP .*\n# TYPE .*\n)((?:[^#\n].*\n)*)/g

const withLabel = (samples: string, worker: number): string =>
  samples.replace(/^(\w+)(?:\{(.*)\})? /gm, (_, name: string, labels: string | undefined) =>
    labels === undefined ? `${name}{worker="${worker}"} ` : `${name}{worker="${worker}",${labels}} `,
  )
