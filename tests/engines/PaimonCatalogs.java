import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.catalog.CatalogFactory;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.options.Options;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.rest.RESTCatalogServer;
import org.apache.paimon.rest.RESTToken;
import org.apache.paimon.rest.auth.BearTokenAuthProvider;
import org.apache.paimon.rest.responses.ConfigResponse;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.types.DataTypes;

/** Real catalogs of Java Paimon: their writers, and the REST server of its own tests. */
public class PaimonCatalogs {
    public static void main(String[] words) throws Exception {
        switch (words[0]) {
            case "serve":
                serve(words);
                break;
            case "databases":
                try (Catalog catalog = open(words[1])) {
                    for (int at = 2; at < words.length; at++) {
                        catalog.createDatabase(words[at], true);
                    }
                }
                break;
            case "write":
                try (Catalog catalog = open(words[1])) {
                    write(catalog, Identifier.fromString(words[2]), Integer.parseInt(words[3]));
                }
                break;
            case "refer":
                try (Catalog catalog = open(words[1])) {
                    FileStoreTable table = (FileStoreTable) catalog.getTable(Identifier.fromString(words[2]));
                    table.createTag(words[3], Long.parseLong(words[4]));
                    table.createBranch(words[5], words[3]);
                }
                break;
            case "tags":
                try (Catalog catalog = open(words[1])) {
                    FileStoreTable table = (FileStoreTable) catalog.getTable(Identifier.fromString(words[2]));
                    System.out.println(String.join(",", table.tagManager().allTagNames()));
                }
                break;
            case "rows":
                try (Catalog catalog = open(words[1])) {
                    rows((FileStoreTable) catalog.getTable(Identifier.fromString(words[2])));
                }
                break;
            default:
                throw new IllegalArgumentException(words[0]);
        }
        System.exit(0);
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

    /** Creates the table if it is missing, and makes that many commits of one row. Prints how it commits. */
    private static void write(Catalog catalog, Identifier name, int commits) throws Exception {
        catalog.createDatabase(name.getDatabaseName(), true);
        Schema schema =
                Schema.newBuilder()
                        .column("id", DataTypes.INT())
                        .column("v", DataTypes.STRING())
                        .option("bucket", "-1")
                        .build();
        catalog.createTable(name, schema, true);
        FileStoreTable table = (FileStoreTable) catalog.getTable(name);
        for (int number = 0; number < commits; number++) {
            BatchWriteBuilder builder = table.newBatchWriteBuilder();
            try (BatchTableWrite write = builder.newWrite(); BatchTableCommit commit = builder.newCommit()) {
                write.write(GenericRow.of(number, BinaryString.fromString("v" + number)));
                commit.commit(write.prepareCommit());
            }
        }
        Object how = table.catalogEnvironment().snapshotCommit(table.snapshotManager());
        System.out.println(table.location());
        System.out.println(how == null ? "null" : how.getClass().getSimpleName());
        System.out.println(table.catalogEnvironment().lockFactory() == null ? "no lock" : "lock");
    }

    private static void rows(FileStoreTable table) throws Exception {
        ReadBuilder builder = table.newReadBuilder();
        List<Integer> found = new ArrayList<>();
        try (RecordReader<InternalRow> reader = builder.newRead().createReader(builder.newScan().plan())) {
            reader.forEachRemaining(row -> found.add(row.getInt(0)));
        }
        System.out.println(found.stream().sorted().map(String::valueOf).collect(Collectors.joining(",")));
    }

    /** Runs until the other side closes its end. */
    private static void serve(String[] words) throws Exception {
        Map<String, String> defaults = new LinkedHashMap<>();
        defaults.put("header.X-From", "server");
        defaults.put("prefix", "lake");
        ConfigResponse config = new ConfigResponse(defaults, new LinkedHashMap<>());
        RESTCatalogServer server =
                new RESTCatalogServer(words[1], new BearTokenAuthProvider(words[2]), config, "main");
        if (words.length > 3) {
            RESTToken lent = new RESTToken(options(words[4]), Long.parseLong(words[5]));
            server.setDataToken(Identifier.fromString(words[3]), lent);
        }
        server.start();
        System.out.println(server.getUrl());
        while (System.in.read() >= 0) {}
        server.shutdown();
    }
}
