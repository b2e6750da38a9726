export const firstSteps = {
  title: 'First steps',
  hide: 'Hide',
  hideHint: 'Ctrl K, then Show the first steps, brings them back.',
  done: 'done',
  progress: (done: number, all: number) => `${done} of ${all}`,
  send: {
    name: 'Send a request',
    text: 'Use the application key of the first start, or create an API key. Every client of the OpenAI or the Anthropic API works, too.',
    createKey: 'Create API key',
    waiting: 'Waiting for the first request …',
    received: 'Received.',
  },
  look: {
    name: 'See why it was allowed or denied',
    text: 'A request shows each step with its time, the outcome of each check, what it cost, and its place in the audit log.',
    open: 'Open the request',
  },
  policy: {
    name: 'Add your first policy',
    text: 'A monitoring policy records what it would deny and denies nothing. Load samples, or write your own.',
    load: 'Load sample policies',
    loading: 'Loading …',
    own: 'Write a policy',
    mayNot: 'You need the permissions policies:write and policies:publish.',
  },
  model: {
    name: 'Add a model',
    text: 'Start the server with OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST, or name an upstream and its models in gatehouse.yaml.',
    open: 'Models',
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
