import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.catalog.CatalogFactory;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.options.Options;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.rest.RESTCatalogServer;
import org.apache.paimon.rest.RESTToken;
import org.apache.paimon.rest.auth.AuthProvider;
import org.apache.paimon.rest.auth.BearTokenAuthProvider;
import org.apache.paimon.rest.auth.DLFAuthProvider;
import org.apache.paimon.rest.auth.DLFDefaultSigner;
import org.apache.paimon.rest.auth.DLFToken;
import org.apache.paimon.rest.responses.ConfigResponse;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.schema.SchemaManager;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.types.DataTypes;

/**
 * Real catalogs of Java Paimon: their writers, and the REST server of its own tests.
 *
 * <p>A command is a line of JSON: {"cmd": name, "options": of a catalog, "table": DATABASE.NAME, …}. Its answer is {"ok": …}
 * or {"error": {"class", "message", "causes"}}. The commands and their fields are documented in paimon_catalogs.py.
 */
public class PaimonCatalogs {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<RESTCatalogServer> SERVERS = new ArrayList<>();

    public static void main(String[] none) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer.set("ok", JSON.valueToTree(run(JSON.readTree(line))));
            } catch (Throwable error) {
                ObjectNode said = answer.putObject("error");
                said.put("class", error.getClass().getName()).put("message", String.valueOf(error.getMessage()));
                ArrayNode causes = said.putArray("causes");
                for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause()) {
                    causes.add(String.valueOf(cause));
                }
            }
            answers.write((JSON.writeValueAsString(answer) + "\n").getBytes(StandardCharsets.UTF_8));
            answers.flush();
        }
        System.exit(0);
    }

    private static Object run(JsonNode asked) throws Exception {
        String command = asked.get("cmd").asText();
        if (command.equals("serve")) {
            return serve(asked);
        }
        try (Catalog catalog = open(asked.get("options").asText())) {
            if (command.equals("databases")) {
                for (JsonNode name : asked.get("names")) {
                    catalog.createDatabase(name.asText(), true);
                }
                return null;
            }
            Identifier name = Identifier.fromString(asked.get("table").asText());
            if (command.equals("write")) {
                return write(catalog, name, asked.get("commits").asInt(), asked.path("path").asText(""));
            }
            FileStoreTable table = (FileStoreTable) catalog.getTable(name);
            switch (command) {
                case "refer":
                    table.createTag(asked.get("tag").asText(), asked.get("snapshot").asLong());
                    table.createBranch(asked.get("branch").asText(), asked.get("tag").asText());
                    return null;
                case "tags":
                    return table.tagManager().allTagNames();
                case "rows":
                    return rows(table);
                default:
                    throw new IllegalArgumentException(command);
            }
        }
    }

    private static Catalog open(String text) {
        return CatalogFactory.createCatalog(CatalogContext.create(Options.fromMap(options(text))));
    }

    private static Map<String, String> options(String text) {
        Map<String, String> found = new LinkedHashMap<>();
        for (String each : text.split(",")) {
            int at = each.indexOf('=');
            found.put(each.substring(0, at), each.substring(at + 1));
        }
        return found;
    }

    /**
     * Creates the table if it is missing, at a path if one is given, and makes that many commits of one row. Returns
     * how it commits.
     */
    private static List<String> write(Catalog catalog, Identifier name, int commits, String path) throws Exception {
        catalog.createDatabase(name.getDatabaseName(), true);
        Schema.Builder schema =
                Schema.newBuilder()
                        .column("id", DataTypes.INT())
                        .column("v", DataTypes.STRING())
                        .option("bucket", "-1");
        if (!path.isEmpty()) { // the server of Paimon's tests does not write the first schema there
            schema.option("path", path);
            SchemaManager schemas = new SchemaManager(LocalFileIO.create(), new Path(path));
            if (!schemas.latest().isPresent()) {
                schemas.createTable(schema.build());
            }
        }
        catalog.createTable(name, schema.build(), true);
        FileStoreTable table = (FileStoreTable) catalog.getTable(name);
        for (int number = 0; number < commits; number++) {
            BatchWriteBuilder builder = table.newBatchWriteBuilder();
            try (BatchTableWrite write = builder.newWrite(); BatchTableCommit commit = builder.newCommit()) {
                write.write(GenericRow.of(number, BinaryString.fromString("v" + number)));
                commit.commit(write.prepareCommit());
            }
        }
        Object how = table.catalogEnvironment().snapshotCommit(table.snapshotManager());
        return List.of(
                table.location().toString(),
                how == null ? "null" : how.getClass().getSimpleName(),
                table.catalogEnvironment().lockFactory() == null ? "no lock" : "lock");
    }

    private static List<Integer> rows(FileStoreTable table) throws Exception {
        ReadBuilder builder = table.newReadBuilder();
        List<Integer> found = new ArrayList<>();
        try (RecordReader<InternalRow> reader = builder.newRead().createReader(builder.newScan().plan())) {
            reader.forEachRemaining(row -> found.add(row.getInt(0)));
        }
        found.sort(null);
        return found;
    }

    private static String serve(JsonNode asked) throws Exception {
        Map<String, String> defaults = new LinkedHashMap<>();
        defaults.put("header.X-From", "server");
        defaults.put("prefix", "lake");
        ConfigResponse config = new ConfigResponse(defaults, new LinkedHashMap<>());
        String token = asked.get("token").asText();
        AuthProvider login = asked.hasNonNull("region")
                ? signed(token, asked.get("region").asText())
                : new BearTokenAuthProvider(token);
        RESTCatalogServer server = new RESTCatalogServer(asked.get("directory").asText(), login, config, "main");
        if (asked.hasNonNull("lends")) {
            RESTToken lent = new RESTToken(options(asked.get("lends").asText()), asked.get("until").asLong());
            server.setDataToken(Identifier.fromString(asked.get("table").asText()), lent);
        }
        server.start();
        SERVERS.add(server);
        return server.getUrl();
    }

    /** What Paimon's own signer makes of a request at the time that its header states. */
    private static AuthProvider signed(String secret, String region) {
        DLFToken key = new DLFToken("key-id", secret, "session", null);
        DLFDefaultSigner signer = new DLFDefaultSigner(region);
        return (sent, request) -> {
            Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
            headers.putAll(sent);
            try {
                DateTimeFormatter format = DLFAuthProvider.AUTH_DATE_TIME_FORMATTER.withZone(ZoneOffset.UTC);
                Instant at = Instant.from(format.parse(headers.getOrDefault("x-dlf-date", "19700101T000000Z")));
                Map<String, String> own = signer.signHeaders(request.data(), at, "session", "localhost");
                return Map.of("Authorization", signer.authorization(request, key, "localhost", own));
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        };
    }
}
