import AuthWire

/// The descriptions of the objects (D-Bus specification, "Introspection Data Format").
enum BusIntrospection {
    /// - Returns: `nil` if there is no object with this path.
    static func text(of path: String, in view: BusView) -> String? {
        let interfaces: String
        let children: [String]
        switch path {
        case "/": (interfaces, children) = ("", ["org"])
        case "/org": (interfaces, children) = ("", ["authd"])
        case BusPath.agent: (interfaces, children) = (properties + manager + agent, ["session"])
        case BusPath.sessions:
            interfaces = ""
            children = view.sessions.keys.sorted().map {
                String(BusPath.session($0).dropFirst(BusPath.sessions.count + 1))
            }
        default:
            guard view.properties(at: path) != nil else { return nil }
            (interfaces, children) = (properties + session, [])
        }
        let nodes = children.map { " <node name=\"\($0)\"/>\n" }.joined()
        return head + "<node>\n" + standard + interfaces + nodes + "</node>\n"
    }

    private static let head = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">

        """

    private static let standard = """
         <interface name="org.freedesktop.DBus.Peer">
          <method name="Ping"/>
          <method name="GetMachineId"><arg type="s" name="machine_uuid" direction="out"/></method>
         </interface>
         <interface name="org.freedesktop.DBus.Introspectable">
          <method name="Introspect"><arg type="s" name="xml_data" direction="out"/></method>
         </interface>

        """

    private static let properties = """
         <interface name="org.freedesktop.DBus.Properties">
          <method name="Get">
           <arg type="s" name="interface_name" direction="in"/>
           <arg type="s" name="property_name" direction="in"/>
           <arg type="v" name="value" direction="out"/>
          </method>
          <method name="GetAll">
           <arg type="s" name="interface_name" direction="in"/>
           <arg type="a{sv}" name="properties" direction="out"/>
          </method>
          <method name="Set">
           <arg type="s" name="interface_name" direction="in"/>
           <arg type="s" name="property_name" direction="in"/>
           <arg type="v" name="value" direction="in"/>
          </method>
          <signal name="PropertiesChanged">
           <arg type="s" name="interface_name"/>
           <arg type="a{sv}" name="changed_properties"/>
           <arg type="as" name="invalidated_properties"/>
          </signal>
         </interface>

        """

    private static let manager = """
         <interface name="org.freedesktop.DBus.ObjectManager">
          <method name="GetManagedObjects">
           <arg type="a{oa{sa{sv}}}" name="objects" direction="out"/>
          </method>
          <signal name="InterfacesAdded">
           <arg type="o" name="object"/>
           <arg type="a{sa{sv}}" name="interfaces"/>
          </signal>
          <signal name="InterfacesRemoved">
           <arg type="o" name="object"/>
           <arg type="as" name="interfaces"/>
          </signal>
         </interface>

        """

    private static let agent = described(BusView.agentInterface, BusView([], network: nil, store: nil).agent)

    private static let session = described(
        BusView.sessionInterface,
        BusView([SessionStatus(blank: Blank())], network: nil, store: nil)
            .sessions.first?.value ?? [],
        methods: """
              <method name="GetToken">
               <arg type="a{sv}" name="options" direction="in"/>
               <arg type="h" name="token" direction="out"/>
               <arg type="a{sv}" name="details" direction="out"/>
              </method>
              <method name="Refresh"/>
              <method name="SignOut"><arg type="a{sv}" name="options" direction="in"/></method>

            """)

    private static func described(_ name: String, _ properties: BusView.Properties, methods: String = "") -> String {
        let lines = properties.map { property in
            "  <property name=\"\(property.key)\" type=\"\(property.value.signature)\" access=\"read\"/>\n"
        }
        return " <interface name=\"\(name)\">\n" + methods + lines.joined() + " </interface>\n"
    }
}
