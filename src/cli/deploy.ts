import packageFile from '../../package.json' with { type: 'json' }
import { systemRandom } from '../base/random.ts'
import { readArguments, readList, required } from './arguments.ts'
import { UsageError, unknownSubcommand, type Command } from './command.ts'

export const deploy: Command = {
  summary: 'Write the settings of a deployment',
  usage: `gatehouse deploy env [--profiles cluster,observe] > .env

  --profiles LIST  cluster: PostgreSQL, Valkey, two nodes and a proxy, instead of one server with embedded storage;
                   observe: Prometheus, Tempo and Grafana

Prints the variables of deploy/compose/compose.yaml, with new random passwords. Run it once and keep the file secret: the volumes
of a deployment keep the passwords of their first start. docs/guide/scale-out.md has the steps.`,
  async run({ args, print }) {
    const { values, positionals } = readArguments(args, { profiles: { type: 'string' } }, 1)
    const verb = required(positionals[0], 'The verb')
    if (verb !== 'env') throw unknownSubcommand('deploy', verb)
    print(environmentFile(readProfiles(values.profiles)))
    return 0
  },
}

type Profiles = { readonly isCluster: boolean; readonly isObserved: boolean }

const optionalProfiles = ['cluster', 'observe']

function readProfiles(text: string | undefined): Profiles {
  const chosen = readList(text) ?? []
  const unknown = chosen.find((name) => !optionalProfiles.includes(name))
  if (unknown !== undefined)
    throw new UsageError(`--profiles: there is no profile ${unknown}; choose from ${optionalProfiles.join(', ')}.`)
  return { isCluster: chosen.includes('cluster'), isObserved: chosen.includes('observe') }
}

/** Hexadecimal, because the values are parts of URLs and of a file that expands `$`. */
const randomSecret = (): string => Buffer.from(systemRandom.bytes(32)).toString('hex')

function environmentFile({ isCluster, isObserved }: Profiles): string {
  const base = isCluster ? 'cluster' : 'single'
  return `# Variables of deploy/compose/compose.yaml, written by gatehouse deploy env. This file contains passwords: keep it secret.

# The services that are started: single or cluster, and observe.
COMPOSE_PROFILES=${isObserved ? `${base},observe` : base}

# The image of Gatehouse. docker compose build creates it from this version of the source.
GATEHOUSE_IMAGE=gatehouse-gateway:${packageFile.version}

# The address and port of this machine at which callers reach the gateway. Use 0.0.0.0:8080 only behind something that terminates TLS.
GATEHOUSE_PUBLISH=127.0.0.1:8080

# The URL that callers use. Links to the console begin with it.
GATEHOUSE_PUBLIC_URL=http://127.0.0.1:8080

# The server secret. Without it the keys in the database are useless: keep a copy in another place.
GATEHOUSE_SECRET=${randomSecret()}

# The password of PostgreSQL. The database keeps the one of its first start.
POSTGRES_PASSWORD=${randomSecret()}

# The password of Valkey.
VALKEY_PASSWORD=${randomSecret()}

# Keys and addresses of upstreams that are configured automatically. Others are in deploy/compose/gatehouse.yaml.
OPENAI_API_KEY=
# As above.
ANTHROPIC_API_KEY=
# A server on this machine is at http://host.docker.internal:11434.
OLLAMA_HOST=

# What Prometheus scrapes: single or cluster, as in COMPOSE_PROFILES.
PROMETHEUS_TARGETS=${base}

# Where traces are sent: http://collector:4318 with the profile observe. Empty: no traces.
OTEL_EXPORTER_OTLP_ENDPOINT=${isObserved ? 'http://collector:4318' : ''}

# The password of the user admin in Grafana, kept from the first start.
GRAFANA_PASSWORD=${randomSecret()}

# The address and port of this machine at which Grafana is reached.
GRAFANA_PUBLISH=127.0.0.1:3000`
}
