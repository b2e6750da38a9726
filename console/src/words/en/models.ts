export const models = {
  purpose:
    'The models that callers may use. The operator defines them in the configuration of the server, so this page changes nothing.',
  catalogue: 'Catalogue',
  models: (count: number) => `${count === 1 ? '1 entry' : `${count} entries`}, prices in USD per million tokens`,
  failed: 'The catalogue could not be loaded',
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
  mayUse: 'May use it',
  definedIn: 'Defined in',
  sources: { environment: 'environment', built_in: 'built in' },
  allKeys: (count: number) => (count === 1 ? '1 key for all models' : `${count} keys for all models`),
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
    mayUse: 'May use it',
    definedIn: 'Defined in',
  },
  tokens: (count: string) => `${count} tokens`,
  defaultOutput: (count: string) => `${count} tokens unless the caller asks for more`,
  asYaml: 'As YAML',
  upstreams: 'Upstreams',
  upstreamsFailed: 'The upstreams could not be loaded',
  seenBy: (host: string) => `As the node ${host} sees them since it started`,
  mayNotRead: 'The state of the upstreams needs the permission system:read.',
  operatorOnly: 'Only the operator of this installation sees the state of the upstreams: gatehouse upstreams list.',
  upstream: 'Upstream',
  kind: 'Kind',
  state: 'State',
  states: { ok: 'OK', failing: 'Failing', resting: 'Resting', unknown: 'Not called yet' },
  restsUntil: (time: string) => `tried again at ${time}`,
  failures: 'Failures in a row',
  inFlight: 'In flight',
  ofMost: (count: string, most: string) => `${count} of ${most}`,
  p95: 'p95, ms',
  p95Hint: 'Time in which 95 of 100 answers began, over the last 200 calls',
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
  mayNotProbe: 'Your key lacks the permission system:probe.',
} as const
