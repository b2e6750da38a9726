export const firstSteps = {
  title: 'First steps',
  hide: 'Hide',
  hideHint: 'Ctrl K, then Show the first steps, brings them back.',
  done: 'done',
  progress: (done: number, all: number) => `${done} of ${all}`,
  product:
    'Gatehouse stands between your applications and their models: it checks every request and answer against your policies, limits and counts what they cost, and keeps a log that proves what was decided.',
  send: {
    name: 'Send a request',
    text: 'The Playground needs no key. Or create an API key: every client of the OpenAI or the Anthropic API works.',
    playground: 'Open the Playground',
    createKey: 'Create API key',
    waiting: 'Waiting for the first request …',
    received: 'Received.',
    open: 'See why it was allowed or denied',
  },
  policy: {
    name: 'Add your first policy',
    text: 'A monitoring policy records what it would deny and denies nothing. Load samples, or write your own.',
    load: 'Load sample policies',
    loading: 'Loading …',
    own: 'Write a policy',
  },
  model: {
    name: 'Add a model',
    text: 'Name an upstream and its models here, without a restart. Or start the server with OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST.',
    add: 'Add an upstream',
  },
  samples: {
    loaded: (count: number) =>
      count === 1 ? '1 sample policy is loaded, in monitoring.' : `${count} sample policies are loaded, in monitoring.`,
    remove: 'Remove sample policies',
    removing: 'Removing …',
    /** Samples are recognized by this, in lists and for removing them. */
    prefix: 'Sample: ',
    names: {
      secrets: 'secrets and credentials in prompts',
      personalData: 'personal data in prompts',
      jailbreak: 'attempts to override instructions',
      phrase: 'a code name',
    },
  },
} as const
