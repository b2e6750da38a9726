export const signIn = {
  title: 'Sign in',
  again: 'Sign in again',
  againText: 'Your session ended. This page and what you typed are kept.',
  key: 'Administrator key',
  keyHint: 'Exchanged for a cookie that scripts cannot read.',
  submit: 'Sign in',
  noKey: 'No key at hand? On the machine that runs Gatehouse:',
  command: 'gatehouse console link',
  commandHint: 'It prints an address that signs you in once, within 15 minutes.',
  wrongKey: 'This did not work. Check that the key is an administrator key and has not expired.',
  linkFailed: 'This link was used before, or is older than 15 minutes.',
  reference: 'Reference',
  unavailable: 'The console cannot reach its server',
  signingIn: 'Signing in',
  with: (name: string) => `Sign in with ${name}`,
  orKey: 'Or with an administrator key',
  inNewTab: 'Opens a new tab. Come back here when you are signed in.',
  refused: {
    failed: 'Sign-in with the identity provider failed. Try again.',
    unavailable:
      'The identity provider cannot be reached, or is not set up completely. Use a key or a link, or try again later.',
    not_a_member:
      'The identity provider knows you, but you have no role here. Ask an owner to invite you, or to add you to a group with a role.',
    suspended: 'An administrator has suspended your access.',
    too_many: 'Too many sign-ins from your address failed. Wait a minute.',
    insecure: 'The console accepts sign-ins over plain HTTP only on the machine itself. Use HTTPS.',
  },
} as const
