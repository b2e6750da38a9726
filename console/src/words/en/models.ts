export const models = {
  purpose:
    'The models that callers can use. They are defined in the configuration of the server, so this page is read-only.',
  catalogue: 'Catalogue',
  models: (count: number) => `${count === 1 ? '1 entry' : `${count} entries`}, prices in USD per million tokens`,
  failed: 'Could not load the catalogue',
  none: 'No models yet',
  noneText:
    'Callers can use the models that the configuration lists. Add one to gatehouse.yaml and restart the server:',
  onlyEcho:
    'Only the built-in echo model is served: it repeats what it is sent. Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or add a model to gatehouse.yaml and restart the server.',
  addModel: 'How to add a model',
  example: `upstreams:
  - name: openai
    kind: openai-responses
    api_key: \${OPENAI_API_KEY}
models:
  - name: support
    targets:
      - upstream: openai
        model: gpt-4.1-mini
    price: { input: 0.4, output: 1.6 }`,
  check: 'Then check that it answers:',
  name: 'Model',
  targets: 'Targets, in order',
  context: 'Context',
  input: 'Input',
  output: 'Output',
  mayUse: 'Keys',
  definedIn: 'Defined in',
  sources: { environment: 'environment', built_in: 'built in', organization: 'this organization' },
  allKeys: (count: number) => (count === 1 ? '1 key with all models' : `${count} keys with all models`),
  listedKeys: (count: number) => (count === 1 ? '1 key lists it' : `${count} keys list it`),
  nobody: 'no key yet',
  free: 'requests without a key',
  freePrice: 'free',
  details: (name: string) => `Model ${name}`,
  prefix: 'Every name that begins with this prefix. The upstream gets the name that the caller sent.',
  names: 'Names that the upstreams list',
  noNames: 'The upstreams of this prefix list no models. Callers can send every name with the prefix.',
  facts: {
    context: 'Context window',
    output: 'Output limit',
    input: 'Input, per million tokens',
    outputPrice: 'Output, per million tokens',
    cacheRead: 'Input read from the cache',
    cacheWrite: 'Input written to the cache',
    mayUse: 'Keys',
    definedIn: 'Defined in',
  },
  tokens: (count: string) => `${count} tokens`,
  defaultOutput: (count: string) => `${count} tokens unless the caller asks for more`,
  asYaml: 'As YAML',
  upstreams: 'Upstreams',
  upstreamsFailed: 'Could not load the upstreams',
  seenBy: (host: string) => `As the node ${host} sees them since it started`,
  mayNotRead: 'You need the permission system:read to see the upstreams.',
  operatorOnly: 'Only the operator of this installation sees the state of the upstreams: gatehouse upstreams list.',
  upstream: 'Upstream',
  kind: 'Kind',
  state: 'State',
  states: { ok: 'OK', failing: 'Failing', resting: 'Skipped', unknown: 'Not called yet' },
  restsUntil: (time: string) => `retried at ${time}`,
  failures: 'Consecutive failures',
  inFlight: 'In flight',
  ofMost: (count: string, most: string) => `${count} of ${most}`,
  p95: 'p95, ms',
  p95Hint: 'Time to first byte of 95 % of the last 200 calls',
  lastSuccess: 'Last success',
  lastError: 'Last error',
  probe: 'Probe',
  probeOf: (name: string) => `Probe ${name}`,
  probeText: (name: string) =>
    `Sends one real request for one token to ${name}, and waits for at most 20 seconds. The operator’s account at the upstream pays for it, your organization does not.`,
  probeEffect: 'If it succeeds, this node uses the upstream again at once. The audit log records the probe.',
  send: 'Send one token',
  sending: 'Waiting for the upstream…',
  answered: (name: string, model: string, ms: string) => `${name} answered in ${ms} ms. The model was ${model}.`,
  notAnswered: (name: string, ms: string) => `${name} did not answer after ${ms} ms:`,
  mayNotProbe: 'You need the permission system:probe.',
} as const
