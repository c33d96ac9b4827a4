import { rulesCommand } from './command.ts';

const { code, text } = rulesCommand(process.argv.slice(2));
process[code === 0 ? 'stdout' : 'stderr'].write(text);
process.exitCode = code;
